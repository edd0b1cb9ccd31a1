/** The part of JSON Schema 2020-12 that is used here. A schema with a title becomes a component of the document. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly (string | number)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly xml?: { readonly name: string; readonly prefix: string; readonly namespace: string };
}

export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean" | "null";

/** A schema of values of one type. */
export type TypedSchema = Schema & { readonly type: SchemaType };

type More = Omit<Schema, "type" | "description">;

/** Builders of schemas. The description comes first, because people read it. */
export const text = (description: string, more: More = {}): TypedSchema => ({ type: "string", description, ...more });
export const integer = (description: string, more: More = {}): TypedSchema => ({
  type: "integer",
  description,
  ...more,
});
export const number = (description: string): TypedSchema => ({ type: "number", description });
export const boolean = (description: string): TypedSchema => ({ type: "boolean", description });

export function list(description: string, items: Schema, more: More = {}): TypedSchema {
  return { type: "array", description, items, ...more };
}

/** An object with arbitrary names and values of one schema. */
export function map(description: string, values: Schema, more: More = {}): TypedSchema {
  return { type: "object", description, additionalProperties: values, ...more };
}

/** An object with required and optional fields. */
export function object(
  description: string,
  requiredFields: Readonly<Record<string, Schema>>,
  optionalFields: Readonly<Record<string, Schema>> = {},
): TypedSchema {
  const required = Object.keys(requiredFields);
  const properties = { ...requiredFields, ...optionalFields };
  return { type: "object", description, properties, ...(required.length > 0 && { required }) };
}

export function orNull(schema: TypedSchema): Schema {
  return { ...schema, type: [schema.type, "null"] };
}

/** Makes the schema a named component, which others refer to. */
export function named(title: string, schema: Schema): Schema {
  return { title, ...schema };
}

export const milliseconds = (description: string): TypedSchema =>
  integer(`${description} Milliseconds since 1970.`, { format: "int64", minimum: 0 });
