import { object, text } from "../../model/json-schema.ts";
import type { Description } from "./description.ts";
import { jsonAnswer } from "./description-parts.ts";

export const getOpenApi: Description = {
  operationId: "getOpenApi",
  tag: "Service",
  summary: "This interface for programs",
  words: [
    "The OpenAPI 3.1 document of everything that this deployment answers. It is made from the routes themselves.",
  ],
  answers: [
    jsonAnswer(200, "The document.", {
      ...object("An OpenAPI document.", {
        openapi: text("The version of OpenAPI.", { enum: ["3.1.0"] }),
        info: { type: "object", description: "The service's name and version.", additionalProperties: {} },
        paths: { type: "object", description: "Every operation by its path.", additionalProperties: {} },
      }),
      additionalProperties: {},
    }),
  ],
};

export const getReference: Description = {
  operationId: "getReference",
  tag: "Service",
  summary: "This interface for people",
  words: ["The page that you are reading. It needs no script and asks no other host for anything."],
  answers: [
    {
      status: 200,
      meaning: "The page.",
      content: { contentType: "text/html", schema: { type: "string" } },
    },
  ],
};
