import { BadParameter, InvalidSecToken, UnknownDevice, UnknownTrigger } from "../../model/errors.ts";
import { type DeviceId, parseId, type TriggerId, type UserId } from "../../model/ids.ts";
import { isXmlText } from "./xml.ts";

/** The sent parameters in order; a name may occur twice. */
export type SentParameters = Iterable<readonly [name: string, value: string]>;

/** The origin of a call. */
export interface CallOrigin {
  readonly source: string;
  /** Aborts when the client has disconnected. */
  readonly disconnected?: AbortSignal | undefined;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * The parameters of one call. Only parameters that an operation reads are checked. An error names the parameter, never
 * its value.
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

  /** Undefined when the value is missing or empty. */
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

  /** The parameter is required, but may be empty. */
  text(name: string): string {
    if (!this.#values.has(name)) throw new BadParameter(name, `The parameter ${name} is missing.`);
    return this.optional(name) ?? "";
  }

  /** Parses 0 or 1, true or false; `byDefault` when left out. */
  boolean(name: string, byDefault?: boolean): boolean {
    const value = byDefault === undefined ? this.required(name) : this.optional(name);
    if (value === undefined) return byDefault ?? false;
    const parsed = booleans.get(value.toLowerCase());
    if (parsed === undefined) throw new BadParameter(name, `The parameter ${name} must be true or false, 1 or 0.`);
    return parsed;
  }

  /** Some clients send the user's id beside the token. It must be the id of the token's own user. */
  checkUserId(userId: UserId): void {
    const sentId = this.optional("userId");
    if (sentId === undefined || sentId === String(userId)) return;
    throw new InvalidSecToken("The security token belongs to another user than the parameter userId names.");
  }

  triggerId(): TriggerId {
    const id = parseId<TriggerId>(this.required("triggerId"));
    if (id === undefined) throw new UnknownTrigger();
    return id;
  }

  /** A malformed id is treated like an unknown one. */
  deviceId(): DeviceId {
    const id = parseId<DeviceId>(this.required("devId"));
    if (id === undefined) throw new UnknownDevice();
    return id;
  }
}
