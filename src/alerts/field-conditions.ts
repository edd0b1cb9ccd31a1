import { traitNames } from "../home/catalogue.ts";
import { fieldNamesOf, type NamedField, readFieldName } from "../home/field-names.ts";
import type { ThingState } from "../home/stored-thing.ts";
import type { ValueType } from "../home/trait.ts";
import { type Condition, isMet, type Matches } from "../model/condition.ts";
import { BadParameter } from "../model/errors.ts";

/** The named field of the thing; throws when no trait of the thing has it. */
export function fieldOf({ state }: { readonly state: ThingState }, name: string): NamedField {
  const named = readFieldName(name);
  if (named && state[named.trait]) return named;
  const known = traitNames.filter((trait) => state[trait]).flatMap(fieldNamesOf);
  throw new BadParameter("field", `The field must be one that the thing has: ${known.join(", ")}.`);
}

/**
 * Refuses a condition that no value of the field can satisfy: such an alert would never fire, and its owner would rely
 * on it.
 */
export function refuseImpossible(field: string, value: ValueType, condition: Condition, matches: Matches): void {
  const isText = condition.operation === "regex" || condition.operation === "equals";
  const parameter = isText ? "stringThreshold" : "threshold";
  const values = valuesOf(value);
  if (values) {
    if (values.some((text) => isMet(condition, text, matches))) return;
    if (!isText) throw new BadParameter("operation", `The field ${field} is not a number: compare it as text.`);
    throw new BadParameter(parameter, `The field ${field} has one of these values: ${values.join(", ")}.`);
  }
  if (value.type !== "number") {
    if (isText) return;
    throw new BadParameter("operation", `The field ${field} is not a number: compare it as text.`);
  }
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = value;
  if (condition.operation === "regex") return;
  if (condition.operation === "equals") {
    const number = Number(condition.text);
    if (String(number) === condition.text && number >= min && number <= max) return;
  } else if (isWithinReach(condition, min, max)) return;
  throw new BadParameter(
    parameter,
    `The field ${field} is a number${rangeOf(min, max)}. No value of it can satisfy this.`,
  );
}

/** The texts of all values of a field with a closed set of values; undefined for other fields. */
function valuesOf(value: ValueType): readonly string[] | undefined {
  if (value.type === "boolean") return ["true", "false"];
  return value.type === "enum" ? value.values : undefined;
}

type NumericCondition = Extract<Condition, { readonly threshold: number }>;

function isWithinReach({ operation, threshold }: NumericCondition, min: number, max: number): boolean {
  switch (operation) {
    case ">":
      return threshold < max;
    case ">=":
      return threshold <= max;
    case "<":
      return threshold > min;
    case "<=":
      return threshold >= min;
    case "==":
      return threshold >= min && threshold <= max;
  }
}

function rangeOf(min: number, max: number): string {
  if (Number.isFinite(min) && Number.isFinite(max)) return ` from ${min} to ${max}`;
  if (Number.isFinite(min)) return ` of at least ${min}`;
  return Number.isFinite(max) ? ` of at most ${max}` : "";
}
