import { BadParameter, UnknownDevice } from "../model/errors.ts";
import { type DeviceId, parseId } from "../model/ids.ts";
import { isXmlText } from "./xml.ts";

/** What a caller sent, in the order in which it came; a name may be there twice. */
export type SentParameters = Iterable<readonly [name: string, value: string]>;

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

  /** A device id that can't be one looks like one that isn't there. */
  deviceId(): DeviceId {
    const id = parseId<DeviceId>(this.required("devId"));
    if (id === undefined) throw new UnknownDevice();
    return id;
  }
}
