import { BadParameter, InvalidSecToken, UnknownDevice, UnknownTrigger } from "../../model/errors.ts";
import { type DeviceId, parseId, type TriggerId, type UserId } from "../../model/ids.ts";
import { isXmlText } from "./xml.ts";

/** What a caller sent, in the order in which it came; a name may be there twice. */
export type SentParameters = Iterable<readonly [name: string, value: string]>;

/** Where a call comes from. */
export interface CallOrigin {
  readonly source: string;
  /** Aborts when the client is gone. */
  readonly disconnected?: AbortSignal | undefined;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * The parameters of one call. Only those that an operation asks for are looked at; an error names the parameter, never
 * what was sent.
 */
export class Parameters {
  readonly #values = new Map<string, string[]>();

  constructor(sent: SentParameters) {
    for (const [name, value] of sent) {
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  /** Empty is left out. */
  optional(name: string): string | undefined {
    const [value = "", ...more] = this.#values.get(name) ?? [];
    if (more.length > 0) throw new BadParameter(name, `The parameter ${name} was sent more than once.`);
    if (!isXmlText(value)) throw new BadParameter(name, `The parameter ${name} holds characters that XML forbids.`);
    return value === "" ? undefined : value;
  }

  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new BadParameter(name, `The parameter ${name} is missing.`);
    return value;
  }

  /** Must be there, but may be empty. */
  text(name: string): string {
    if (!this.#values.has(name)) throw new BadParameter(name, `The parameter ${name} is missing.`);
    return this.optional(name) ?? "";
  }

  /** 0 or 1, true or false; left out, it is what it is by default. */
  boolean(name: string, byDefault?: boolean): boolean {
    const value = byDefault === undefined ? this.required(name) : this.optional(name);
    if (value === undefined) return byDefault ?? false;
    const meant = booleans.get(value.toLowerCase());
    if (meant === undefined) throw new BadParameter(name, `The parameter ${name} must be true or false, 1 or 0.`);
    return meant;
  }

  /** Some clients send the user's id beside the token. A secToken reaches the devices of its own user only. */
  checkUserId(userId: UserId): void {
    const given = this.optional("userId");
    if (given === undefined || given === String(userId)) return;
    throw new InvalidSecToken("The security token belongs to another user than the parameter userId names.");
  }

  triggerId(): TriggerId {
    const id = parseId<TriggerId>(this.required("triggerId"));
    if (id === undefined) throw new UnknownTrigger();
    return id;
  }

  /** A device id that can't be one looks like one that isn't there. */
  deviceId(): DeviceId {
    const id = parseId<DeviceId>(this.required("devId"));
    if (id === undefined) throw new UnknownDevice();
    return id;
  }
}
