/** The most that one message may hold: many times a full account, which is about 90 kB. */
export const largestMessageBytes = 2 * 1024 * 1024;

/** Deeper than any account document by far; what follows it may then walk a value without fear for the stack. */
const deepest = 32;

/**
 * Parses JSON. Answers undefined for invalid or too deeply nested text. The reason is left out on purpose: the engine's
 * own message quotes the text, and an account document holds its token.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return nestsDeeper(value, deepest) ? undefined : value;
}

/** An object as JSON knows it: neither null nor a list. */
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The engine parses any depth without recursion; so looking afterwards, only so far down, is safe and cheap. */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    // Most items are no objects: a call for each would cost more than the look.
    if (typeof item === "object" && nestsDeeper(item, levels - 1)) return true;
  }
  return false;
}
