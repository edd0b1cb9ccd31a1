/** Maximal size of one message: many times a full account, which is about 90 kB. */
export const largestMessageBytes = 2 * 1024 * 1024;

/** Maximal nesting, far deeper than any account document: recursive functions can then walk the value safely. */
const deepest = 32;

/**
 * Parses JSON; undefined for invalid or too deeply nested text. The reason is left out, because the engine's message
 * quotes the text, and an account document holds its token.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isDeeper(value, deepest) ? undefined : value;
}

/** An object as JSON knows it: neither null nor a list. */
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks the depth after parsing: the engine parses any depth without recursion, and this walk stops at the limit. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    // Most items are not objects: testing here saves a call for each.
    if (typeof item === "object" && isDeeper(item, levels - 1)) return true;
  }
  return false;
}
