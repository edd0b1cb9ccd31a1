import { type TraitName, traitNames, traits } from "./catalogue.ts";
import type { FieldValue } from "./stored-thing.ts";
import { flag, type ValueType } from "./trait.ts";

/** A field of a trait, as the catalogue defines it. */
export interface NamedField {
  readonly trait: TraitName;
  readonly field: string;
  readonly value: ValueType;
}

/** The field that `trait.field` names; undefined when the catalogue has none of that name. */
export function readFieldName(name: string): NamedField | undefined {
  const [trait = "", field = "", ...rest] = name.split(".");
  if (rest.length > 0 || !Object.hasOwn(traits, trait)) return undefined;
  const named = trait as TraitName;
  const { fields } = traits[named];
  if (field === "available") return { trait: named, field, value: flag };
  return Object.hasOwn(fields, field) ? { trait: named, field, value: fields[field]!.value } : undefined;
}

/** The names of all fields of a trait. */
export function fieldNamesOf(trait: TraitName): readonly string[] {
  return ["available", ...Object.keys(traits[trait].fields)].map((field) => `${trait}.${field}`);
}

/**
 * The text of a value, with which conditions are compared: `true` and `false`, a number in decimal digits, any other
 * value as it is. Null, which means that the ecosystem did not tell the value, has no text.
 */
export function fieldText(value: FieldValue): string | null {
  return value === null ? null : String(value);
}

/**
 * What is known of each field of a thing that is gone: nothing, except that its traits are not available. The stored
 * values are the last known ones, and must not be taken for present ones.
 */
export const goneValues: ReadonlyMap<string, FieldValue> = new Map(
  traitNames.flatMap(fieldNamesOf).map((name) => [name, name.endsWith(".available") ? false : null]),
);
