import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { list, map, object, text } from "../../model/json-schema.ts";

const input = object(
  "One intent.",
  {
    intent: text(
      "`action.devices.SYNC`, `action.devices.QUERY`, `action.devices.EXECUTE` or `action.devices.DISCONNECT`.",
    ),
  },
  { payload: map("The payload of QUERY and EXECUTE, as Google describes it.", {}) },
);

export const fulfil: Description = {
  operationId: "fulfilGoogleHome",
  tag: "Assistants",
  summary: "Answer an intent of Google Home",
  words: [
    "Google calls this address for users who have linked it. The token must belong to the client of an outlet to Google Home (`breezeway outlet add google-home`).",
    "EXECUTE waits up to 2 seconds for the outcome of its commands. A command that takes longer is `PENDING`, and its outcome is reported to Home Graph. DISCONNECT ends the token's grant.",
  ],
  body: {
    contentType: "application/json",
    schema: object("A request of Google.", {
      requestId: text("Is repeated in the answer."),
      inputs: list("Exactly one intent.", input),
    }),
    example: { requestId: "6f1c9f5e-1f0e-4f57-9a53-0d1f0b0a1234", inputs: [{ intent: "action.devices.SYNC" }] },
  },
  answers: [
    jsonAnswer(
      200,
      "The answer to the intent; empty for DISCONNECT.",
      object(
        "The answer to the intent.",
        {},
        { requestId: text("That of the request."), payload: map("As Google describes it.", {}) },
      ),
    ),
  ],
  errors: [{ status: 400, code: "invalid_request", when: "The body is no request of Google." }],
};
