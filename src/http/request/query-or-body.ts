import { BadParameter } from "../../model/errors.ts";
import type { Incoming } from "./incoming.ts";

/**
 * A parameter that may come in the query or in the body. An empty value counts as missing. Two different values are
 * refused as ambiguous. An error names the parameter, never its value.
 */
export function optionalParameter(
  incoming: Incoming,
  name: string,
  otherValues: readonly string[] = [],
): string | undefined {
  const values = new Set([...inPairs(incoming.query, name), ...inBody(incoming, name), ...otherValues]);
  values.delete("");
  if (values.size > 1) throw new BadParameter(name, `The parameter ${name} was given with two different values.`);
  const [value] = values;
  if (value !== undefined && !value.isWellFormed()) {
    throw new BadParameter(name, `The parameter ${name} holds characters that can't be stored.`);
  }
  return value;
}

export function requiredParameter(incoming: Incoming, name: string): string {
  const value = optionalParameter(incoming, name);
  if (value === undefined) throw new BadParameter(name, `The parameter ${name} is missing.`);
  return value;
}

function inBody({ body }: Incoming, name: string): readonly string[] {
  if (body.kind === "none") return [];
  if (body.kind === "form") return inPairs(body.pairs, name);
  const object = body.kind === "json" ? body.value : undefined;
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    throw new BadParameter("body", "The body must be a JSON object.");
  }
  if (!Object.hasOwn(object, name)) return [];
  const value = (object as Record<string, unknown>)[name];
  if (typeof value === "string") return [value];
  // Some clients send device ids as numbers.
  if (Number.isSafeInteger(value)) return [String(value)];
  throw new BadParameter(name, `The parameter ${name} must be a string.`);
}

function inPairs(pairs: Incoming["query"], name: string): readonly string[] {
  return pairs.filter(([key]) => key === name).map(([, value]) => value);
}
