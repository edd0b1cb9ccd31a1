import { BadParameter } from "../model/errors.ts";

/** Names and values in the order in which they were sent; a name may occur twice. */
export type SentParameters = readonly (readonly [name: string, value: string])[];

/** The parameters of an OAuth request. Each may be sent once; an empty one counts as omitted (RFC 6749 3.1, 3.2). */
export class Parameters {
  readonly #sent: SentParameters;

  constructor(sent: SentParameters) {
    this.#sent = sent;
  }

  optional(name: string): string | undefined {
    const values = this.#sent.filter(([sentName]) => sentName === name);
    if (values.length > 1) throw new BadParameter(name, `The parameter ${name} must be sent once.`);
    const value = values[0]?.[1];
    if (value?.isWellFormed() === false) {
      throw new BadParameter(name, `The parameter ${name} holds characters that can't be stored.`);
    }
    return value === "" ? undefined : value;
  }

  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new BadParameter(name, `The parameter ${name} is missing.`);
    return value;
  }
}
