import { shownName } from "../devices/shown-attribute.ts";
import { parseAttributeName } from "../model/attribute-names.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";

/** The name under which a reader hears of an attribute; undefined when it didn't ask for it. */
export type NameFor = (key: AttributeKey) => string | undefined;

/** By the names that a client gave, in any published spelling, which the answer then uses; none means all. */
export function namesFor(attributes: readonly string[]): NameFor {
  if (attributes.length === 0) return shownName;
  const numbers = new Map<number, string>();
  for (const name of attributes) {
    const number = parseAttributeName(name)?.number;
    if (number !== undefined) numbers.set(number, name);
  }
  const names = new Set(attributes);
  return (key) => (typeof key === "number" ? numbers.get(key) : names.has(key) ? key : undefined);
}
