import { wireName } from "../devices/wire-attribute.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { parseAttributeName } from "../virtual-device/attribute-names.ts";

/** The name under which a reader gets an attribute; undefined when the reader's filter excludes it. */
export type NameFor = (key: AttributeKey) => string | undefined;

/**
 * Compiles a filter of attribute names in any published spelling; the answer uses the client's spelling. An empty list
 * means all.
 */
export function namesFor(attributes: readonly string[]): NameFor {
  if (attributes.length === 0) return wireName;
  const numbers = new Map<number, string>();
  for (const name of attributes) {
    const number = parseAttributeName(name)?.number;
    if (number !== undefined) numbers.set(number, name);
  }
  const names = new Set(attributes);
  return (key) => (typeof key === "number" ? numbers.get(key) : names.has(key) ? key : undefined);
}
