import { traits } from "./catalogue.ts";
import type { CommandDefinition, Field, FieldKind, Trait, Unit, ValueType } from "./trait.ts";

/** A trait as readers of the documents look for it. The reference and docs/interface.md show this. */
export interface CataloguedTrait {
  readonly name: string;
  readonly meaning: string;
  readonly fields: readonly CataloguedField[];
  readonly capabilities: readonly CataloguedValue[];
  readonly commands: readonly CataloguedCommand[];
}

export interface CataloguedCommand {
  readonly name: string;
  readonly meaning: string;
  readonly parameters: readonly CataloguedParameter[];
}

export interface CataloguedParameter extends CataloguedValue {
  readonly isOptional: boolean;
}

export interface CataloguedValue {
  readonly name: string;
  /** The JSON type. */
  readonly type: string;
  readonly values: string;
  readonly meaning: string;
}

export interface CataloguedField extends CataloguedValue {
  readonly kind: FieldKind;
}

/** All traits in the order of the catalogue: their fields, capabilities and commands. */
export function cataloguedTraits(): readonly CataloguedTrait[] {
  return Object.values(traits).map(({ name, meaning, fields, capabilities, commands }: Trait) => ({
    name,
    meaning,
    fields: Object.entries(fields).map(([field, definition]) => ({
      ...described(field, definition),
      kind: definition.kind,
    })),
    capabilities: Object.entries(capabilities).map(([capability, definition]) => described(capability, definition)),
    commands: Object.entries(commands).map(([command, definition]) => describedCommand(command, definition)),
  }));
}

function describedCommand(name: string, { meaning, parameters }: CommandDefinition): CataloguedCommand {
  return {
    name,
    meaning,
    parameters: Object.entries(parameters).map(([parameter, definition]) => ({
      ...described(parameter, definition),
      isOptional: definition.isOptional === true,
    })),
  };
}

/** A parameter in one phrase. */
export function parameterText({ name, type, values, meaning, isOptional }: CataloguedParameter): string {
  return `\`${name}\` (${type}${isOptional ? ", optional" : ""}; ${values}): ${meaning}`;
}

function described(name: string, { value, meaning }: Pick<Field, "value" | "meaning">): CataloguedValue {
  return { name, type: typeNames[value.type], values: valuesOf(value), meaning };
}

const typeNames: Readonly<Record<ValueType["type"], string>> = {
  boolean: "boolean",
  enum: "string",
  number: "number",
  text: "string",
  list: "list of strings",
};

function valuesOf(value: ValueType): string {
  switch (value.type) {
    case "boolean":
      return choices(["true", "false"]);
    case "enum":
      return choices(value.values);
    case "list":
      return value.values === undefined ? "any text" : choices(value.values);
    case "text":
      return "any text";
    case "number":
      return [unitNames[value.unit], ...rangeOf(value)].join(", ");
  }
}

const unitNames: Readonly<Record<Unit, string>> = {
  celsius: "degrees Celsius",
  percent: "percent",
  milliseconds: "milliseconds since 1970",
  minutes: "minutes",
};

function rangeOf({ min, max }: { readonly min?: number; readonly max?: number }): readonly string[] {
  if (min === undefined) return [];
  return [max === undefined ? `${min} or more` : `${min} to ${max}`];
}

function choices(values: readonly string[]): string {
  return values.map((one) => `\`${one}\``).join(", ");
}
