import type { AttributeKey } from "../store/tables/attributes.ts";
import { attributeName, valueKind } from "../virtual-device/attribute-names.ts";

/** The name of an attribute on the wire. (An answer repeats another spelling if the client used one.) */
export function wireName(key: AttributeKey): string {
  return typeof key === "number" ? attributeName(key) : key;
}

/** The value as JSON carries it: totals are numbers, everything else is a string, booleans included. */
export function wireValue(key: AttributeKey, value: string | null): string | number | null {
  const isNumber = value !== null && typeof key === "number" && valueKind(key) === "integer";
  return isNumber ? Number(value) : value;
}
