import { attributeName, valueKind } from "../model/attribute-names.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";

/** The name of an attribute on the wire, unless a client asked for it in another spelling. */
export function shownName(key: AttributeKey): string {
  return typeof key === "number" ? attributeName(key) : key;
}

/** Totals are numbers, booleans are the strings "true" and "false", and so is everything else (interface 2.7). */
export function shownValue(key: AttributeKey, value: string | null): string | number | null {
  const isNumber = value !== null && typeof key === "number" && valueKind(key) === "integer";
  return isNumber ? Number(value) : value;
}
