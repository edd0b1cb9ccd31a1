import type { Description, ErrorDescription, Parameter } from "../../http/documentation/description.ts";
import type { Schema } from "../../model/json-schema.ts";
import { integer, object } from "../../model/json-schema.ts";

/** The description of a platform operation, without the name and the tag: platform-descriptions.ts adds them to all. */
export type Words = Omit<Description, "operationId" | "tag">;

const namespace = "http://arrayent.com/zamapi/";

/** A required string in the query or the form, unless `more` says otherwise. */
export const parameter = (name: string, meaning: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  in: "queryOrForm",
  isRequired: true,
  schema: { type: "string" },
  meaning,
  ...more,
});

export const deviceId = parameter("devId", "The id of a device of this user.", {
  schema: { type: "integer", minimum: 1 },
  example: "41",
});

export const badParameter: ErrorDescription = {
  status: 500,
  code: 102,
  when: "A parameter is missing, malformed or repeated.",
};
export const unknownDevice: ErrorDescription = { status: 500, code: 109, when: "The user has no device with this id." };

export const unknownAttribute: ErrorDescription = {
  status: 500,
  code: 110,
  when: "The device has no attribute of that name.",
};
export const badValue: ErrorDescription = { status: 500, code: 112, when: "The attribute can't hold this value." };

/** The answer of an operation. `exampleXml` is the content of the root element, which alone carries the prefix. */
export function answer(operation: string, meaning: string, schema: Schema, exampleXml: string): Words["answers"] {
  const name = `${operation}Response`;
  return [
    {
      status: 200,
      meaning,
      content: {
        contentType: "text/xml",
        schema: { ...schema, xml: { name, prefix: "ns1", namespace } },
        example: `<?xml version="1.0" encoding="UTF-8"?>\n<ns1:${name} xmlns:ns1="${namespace}">${exampleXml}</ns1:${name}>`,
      },
    },
  ];
}

export const done: Schema = object("It is done.", { retCode: integer("Always 0.", { enum: [0] }) });
