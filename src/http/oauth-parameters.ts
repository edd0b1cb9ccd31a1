import { BadParameter } from "../model/errors.ts";
import type { Incoming, Pairs } from "./incoming.ts";
import { refusals } from "./refusal.ts";

/** The parameters of an OAuth request: each at most once, an empty one left out (RFC 6749 3.1, 3.2). */
export class OAuthParameters {
  readonly #pairs: Pairs;

  constructor(pairs: Pairs) {
    this.#pairs = pairs;
  }

  optional(name: string): string | undefined {
    const values = this.#pairs.filter(([given]) => given === name);
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

/** The body of a token or revocation request: a form, or a JSON object of strings. */
export function bodyParameters({ body }: Incoming): OAuthParameters {
  if (body.kind === "form") return new OAuthParameters(body.pairs);
  if (body.kind === "none") return new OAuthParameters([]);
  const object = body.value;
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    throw refusals.malformed("The body must be a JSON object.");
  }
  return new OAuthParameters(Object.entries(object).map(([name, value]) => [name, textOf(name, value)]));
}

function textOf(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "string") throw new BadParameter(name, `The member ${shown(name)} must be a string.`);
  return value;
}

/** A name of the body's, only when it is one we know how to write: anything else may be a secret in the wrong place. */
function shown(name: string): string {
  return /^[a-z_]{1,30}$/.test(name) ? name : "that was sent";
}
