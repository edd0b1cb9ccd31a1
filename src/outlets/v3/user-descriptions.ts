import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { integer, list, milliseconds, named, object, text } from "../../model/json-schema.ts";
import { badParameter } from "./device-descriptions.ts";

export const listUsers: Description = {
  operationId: "listUsers",
  tag: "Users and devices",
  summary: "List users",
  words: [
    "A user's token lists that user only; an enterprise token lists the users of its tenant, ascending by id, 100,000 at most. If there are more, the header `Link` has the address of the next page.",
  ],
  parameters: [
    {
      name: "cursor",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "From the `Link` of the previous page.",
    },
  ],
  answers: [
    jsonAnswer(
      200,
      "The ids of the users.",
      list("The ids of the users.", integer("A user's id.", { minimum: 1 })),
      [1],
    ),
  ],
  errors: [badParameter],
};

export const getUser: Description = {
  operationId: "getUser",
  tag: "Users and devices",
  summary: "Read a user",
  words: ["A user's name, tenant and creation time."],
  parameters: [pathParameter("userId", "The user's id.", "1")],
  answers: [
    jsonAnswer(
      200,
      "The user.",
      named(
        "User",
        object("A user of a tenant.", {
          userId: integer("The user's id.", { minimum: 1 }),
          userName: text("The user's name, unique within the tenant."),
          tenant: text("The tenant's name."),
          createdTime: milliseconds("When the user was added."),
        }),
      ),
      { userId: 1, userName: "ada", tenant: "Example Company", createdTime: 1_785_312_000_000 },
    ),
  ],
  errors: [{ status: 404, code: "not_found", when: "The token gives access to no user with this id." }],
};
