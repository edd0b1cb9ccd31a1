import { object, text } from "../../model/json-schema.ts";
import type { ContentDescription } from "./description.ts";

/** The answer to a write that returns nothing. */
export const okContent: ContentDescription = {
  contentType: "application/json",
  schema: object("It is done.", { status: text("Always `OK`.", { enum: ["OK"] }) }),
  example: { status: "OK" },
};
