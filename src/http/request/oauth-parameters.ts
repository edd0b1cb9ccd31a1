import { BadParameter } from "../../model/errors.ts";
import { Parameters } from "../../oauth/parameters.ts";
import { refusals } from "../answer/refusal.ts";
import type { Incoming } from "./incoming.ts";

/** The body of a token or revocation request: a form, or a JSON object of strings. */
export function bodyParameters({ body }: Incoming): Parameters {
  if (body.kind === "form") return new Parameters(body.pairs);
  if (body.kind === "none") return new Parameters([]);
  const object = body.kind === "json" ? body.value : undefined;
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    throw refusals.malformed("The body must be a JSON object.");
  }
  return new Parameters(Object.entries(object).map(([name, value]) => [name, textOf(name, value)]));
}

function textOf(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "string") throw new BadParameter(name, `The member ${printableName(name)} must be a string.`);
  return value;
}

/** The name if it looks like a parameter name: other text may be a secret in the wrong place. */
function printableName(name: string): string {
  return /^[a-z_]{1,30}$/.test(name) ? name : "that was sent";
}
