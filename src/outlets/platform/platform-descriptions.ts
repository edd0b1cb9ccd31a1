import type { OperationDescription } from "../../http/documentation/description.ts";
import { integer, list, object, text } from "../../model/json-schema.ts";
import { deviceDescriptions } from "./device-operation-descriptions.ts";
import { answer, badParameter, done, parameter, type Words } from "./operation-schemas.ts";
import { triggerDescriptions } from "./trigger-operation-descriptions.ts";

/** The access rules of the platform operations by name. */
export type OperationRules = ReadonlyMap<string, { readonly access: "public" | "secToken" }>;

/**
 * Each platform operation with its description. A missing description stops the start, so that nothing is served
 * undocumented.
 */
export function describedOperations(rules: OperationRules): readonly OperationDescription[] {
  return [...rules].map(([operation, { access }]) => {
    const description = descriptions.get(operation);
    if (!description) throw new Error(`The platform operation ${operation} has no description.`);
    return { ...description, operationId: operation, tag: "Platform calls", operation, access };
  });
}

const descriptions: ReadonlyMap<string, Words> = new Map<string, Words>([
  [
    "userLogin",
    {
      summary: "Sign a user in",
      words: [
        "Returns the security token that platform calls and the adaptor take as `secToken`. It is valid for 60 minutes from its last use and for 24 hours at most, and ends with `userLogout`, a new password or the user's removal.",
      ],
      parameters: [
        parameter("name", "The user's name.", { schema: { type: "string", maxLength: 60 }, example: "ada" }),
        parameter("password", "The user's password.", {
          schema: { type: "string", maxLength: 60 },
          variable: "PASSWORD",
        }),
        parameter("appId", "The id of the user's tenant.", { schema: { type: "integer", minimum: 1 }, example: "1" }),
      ],
      answers: answer(
        "userLogin",
        "The user is signed in.",
        object("The signed-in user.", {
          userId: integer("The user's id."),
          securityToken: text("The secToken for all further calls."),
        }),
        "<userId>1</userId><securityToken>bws_…</securityToken>",
      ),
      errors: [
        { status: 500, code: 101, when: "The name, the password or the tenant is wrong; the error doesn't say which." },
        badParameter,
        { status: 500, code: 107, when: "Too many failed attempts; `Retry-After` says when to try again." },
      ],
    },
  ],
  [
    "userLogout",
    {
      summary: "Sign a user out",
      words: ["Ends the security token at once."],
      answers: answer("userLogout", "The token has ended.", done, "<retCode>0</retCode>"),
    },
  ],
  [
    "getUserValueList",
    {
      summary: "List the values that clients keep for a user",
      words: ["The service keeps no such values: the answer is a root without children."],
      answers: answer(
        "getUserValueList",
        "The user's values: repeated elements without a wrapper, none here.",
        object(
          "The user's values.",
          {},
          {
            valueList: list(
              "One element for each value.",
              object("A value.", { name: text("Its name."), value: text("The value.") }),
            ),
          },
        ),
        "",
      ),
    },
  ],
  ...deviceDescriptions,
  ...triggerDescriptions,
]);
