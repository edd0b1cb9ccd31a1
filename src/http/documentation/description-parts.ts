import type { Schema } from "../../model/json-schema.ts";
import type { AnswerDescription, Parameter } from "./description.ts";

/** A required text in the path. */
export function pathParameter(name: string, meaning: string, example: string): Parameter {
  return { name, in: "path", isRequired: true, schema: { type: "string" }, meaning, example };
}

/** An answer with a JSON body. */
export function jsonAnswer(status: number, meaning: string, schema: Schema, example?: unknown): AnswerDescription {
  const shown = example === undefined ? {} : { example };
  return { status, meaning, content: { contentType: "application/json", schema, ...shown } };
}
