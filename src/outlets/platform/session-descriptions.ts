import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { integer, named, object, text } from "../../model/json-schema.ts";

export const openSession: Description = {
  operationId: "openSession",
  tag: "Platform calls",
  summary: "Sign a user in by JSON",
  words: [
    "The same sign-in as `userLogin`, for clients that use JSON: the same security token, the same delays after wrong passwords.",
  ],
  parameters: [pathParameter("appId", "The id of the user's tenant, or its name.", "1")],
  body: {
    contentType: "application/json",
    schema: named(
      "SessionRequest",
      object("A user's name and password.", {
        username: text("The user's name.", { maxLength: 60 }),
        password: text("The user's password.", { maxLength: 60 }),
      }),
    ),
    example: { username: "ada", password: "…" },
  },
  answers: [
    jsonAnswer(
      200,
      "The user is signed in.",
      named(
        "Session",
        object("A user who is signed in.", {
          userId: integer("The user's id."),
          securityToken: text("The secToken for platform calls and the adaptor."),
        }),
      ),
      { userId: 1, securityToken: "bws_…" },
    ),
  ],
  errors: [
    { status: 400, code: 102, when: "The name or the password is missing, or is not a string." },
    { status: 403, code: 101, when: "The name, the password or the tenant is wrong; the error doesn't say which." },
    { status: 429, code: 107, when: "Too many failed attempts; `Retry-After` says when to try again." },
  ],
};
