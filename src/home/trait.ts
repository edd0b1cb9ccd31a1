/**
 * How a field changes. `transition`: every value counts, none is coalesced, and it is committed at once. `level`: the
 * latest value wins. `sample`: a measured value; the latest wins, and small changes are committed once a minute.
 */
export type FieldKind = "transition" | "level" | "sample";

/** The type of a state field, a capability or a parameter. Temperatures are Celsius, times are milliseconds. */
export type ValueType =
  | { readonly type: "boolean" }
  | { readonly type: "enum"; readonly values: readonly string[] }
  | { readonly type: "number"; readonly unit: Unit; readonly min?: number; readonly max?: number }
  | { readonly type: "text" }
  | { readonly type: "list"; readonly values?: readonly string[] };

export type Unit = "celsius" | "percent" | "milliseconds" | "minutes";

export interface Field<Type extends ValueType = ValueType> {
  readonly kind: FieldKind;
  readonly value: Type;
  /** What the field tells, for the catalogue. */
  readonly meaning: string;
  /** The value stays in force while the ecosystem does not tell it: a reported null keeps the stored value. */
  readonly persists?: true;
}

export interface Capability<Type extends ValueType = ValueType> {
  readonly value: Type;
  readonly meaning: string;
}

/** A value that a command takes. */
export interface Parameter {
  readonly value: ParameterType;
  readonly meaning: string;
  /** A command is complete without this parameter. */
  readonly isOptional?: true;
}

export type ParameterType = Exclude<ValueType, { readonly type: "list" }>;

/** A command that things with the trait may accept; the rules beside the trait say when. */
export interface CommandDefinition {
  readonly meaning: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

/**
 * A named group of state fields, capabilities and commands. Meanings follow Matter's clusters. Null means that the
 * ecosystem did not tell the value.
 */
export interface Trait {
  readonly name: string;
  readonly meaning: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly capabilities: Readonly<Record<string, Capability>>;
  readonly commands: Readonly<Record<string, CommandDefinition>>;
}

/** What a connector tells of one trait of a thing. */
export type TraitOf<Definition extends Trait> = {
  /** False: the values are the last known ones, because the device does not answer. Null: not told. */
  readonly available: boolean | null;
  readonly state: {
    readonly [Name in keyof Definition["fields"]]: ValueOf<Definition["fields"][Name]["value"]> | null;
  };
  readonly capabilities: {
    readonly [Name in keyof Definition["capabilities"]]: ValueOf<Definition["capabilities"][Name]["value"]> | null;
  };
};

/** A command of a trait with its parameters, as a caller sends it. */
export type CommandOf<Definition extends Trait> = {
  readonly [Name in keyof Definition["commands"] & string]: {
    readonly trait: Definition["name"];
    readonly command: Name;
    readonly params: ParamsOf<Definition["commands"][Name]["parameters"]>;
  };
}[keyof Definition["commands"] & string];

type ParamsOf<Parameters extends Readonly<Record<string, Parameter>>> = {
  readonly [Name in Exclude<keyof Parameters, OptionalOf<Parameters>>]: ValueOf<Parameters[Name]["value"]>;
} & {
  readonly [Name in OptionalOf<Parameters>]?: ValueOf<Parameters[Name]["value"]>;
};

type OptionalOf<Parameters extends Readonly<Record<string, Parameter>>> = {
  [Name in keyof Parameters]: Parameters[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof Parameters];

type ValueOf<Type extends ValueType> = Type extends { readonly type: "boolean" }
  ? boolean
  : Type extends { readonly type: "enum"; readonly values: readonly (infer Value)[] }
    ? Value
    : Type extends { readonly type: "number" }
      ? number
      : Type extends { readonly type: "list"; readonly values: readonly (infer Value)[] }
        ? readonly Value[]
        : Type extends { readonly type: "list" }
          ? readonly string[]
          : string;

/** Keeps the literal types of a definition. */
export function defineTrait<const Definition extends Trait>(definition: Definition): Definition {
  return definition;
}

export const flag = { type: "boolean" } as const;
export const text = { type: "text" } as const;
export const celsius = { type: "number", unit: "celsius" } as const;
export const percent = { type: "number", unit: "percent", min: 0, max: 100 } as const;
export const percentDifference = { type: "number", unit: "percent", min: -100, max: 100 } as const;
export const time = { type: "number", unit: "milliseconds" } as const;
