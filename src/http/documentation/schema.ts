import type { Schema } from "./description.ts";

type More = Omit<Schema, "type" | "description">;

/** The schemas that descriptions are made of; the words come first, because they are what people read. */
export const text = (description: string, more: More = {}): Schema => ({ type: "string", description, ...more });
export const integer = (description: string, more: More = {}): Schema => ({ type: "integer", description, ...more });
export const boolean = (description: string): Schema => ({ type: "boolean", description });

export function list(description: string, items: Schema, more: More = {}): Schema {
  return { type: "array", description, items, ...more };
}

/** Names that aren't known beforehand, each with the same kind of value. */
export function map(description: string, values: Schema, more: More = {}): Schema {
  return { type: "object", description, additionalProperties: values, ...more };
}

/** Fields that are always there, then those that may be missing. */
export function object(
  description: string,
  always: Readonly<Record<string, Schema>>,
  sometimes: Readonly<Record<string, Schema>> = {},
): Schema {
  const required = Object.keys(always);
  const properties = { ...always, ...sometimes };
  return { type: "object", description, properties, ...(required.length > 0 && { required }) };
}

export function orNull(schema: Schema): Schema {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return { ...schema, type: [...types, "null"] };
}

/** Under this name it is a component of the document, which others refer to. */
export function named(title: string, schema: Schema): Schema {
  return { title, ...schema };
}

export const milliseconds = (description: string): Schema =>
  integer(`${description} Milliseconds since 1970.`, { format: "int64", minimum: 0 });
