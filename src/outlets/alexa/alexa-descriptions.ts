import { awsRegions } from "../../assistants/alexa/regions.ts";
import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import { map, named, object, text } from "../../model/json-schema.ts";

const header = object(
  "What the message is.",
  {
    namespace: text("The interface of Alexa, such as `Alexa.PowerController`."),
    name: text("The name of the message, such as `TurnOn`."),
    payloadVersion: text("Always `3`."),
    messageId: text("The id of this message."),
  },
  { correlationToken: text("The token of the directive; the answer repeats it.") },
);
const payload = map("What belongs to this message.", {});

const directive = named(
  "AlexaDirective",
  object("A message from Alexa, as the skill's Lambda function got it.", {
    directive: object(
      "The directive.",
      { header },
      {
        endpoint: object(
          "The device, and the user's access token.",
          {},
          {
            endpointId: text("The id of the device, from the discovery."),
            scope: object("The user's access token.", {}, { type: text("`BearerToken`."), token: text("The token.") }),
            cookie: map("What the discovery gave Alexa to keep: nothing.", {}),
          },
        ),
        payload,
      },
    ),
  }),
);

const event = named(
  "AlexaEvent",
  object(
    "The answer in Alexa's own form.",
    {
      event: object(
        "The event.",
        { header, payload },
        { endpoint: object("The device.", { endpointId: text("The id of the device.") }) },
      ),
    },
    { context: map("All properties of the device.", {}) },
  ),
);

const endpointId = "t_Zk3xV0bqT2m8cQx1r5sYwA";
const answered = { payloadVersion: "3", correlationToken: "dFMb0z+PgpgdDmluhJ1LddFvSqZ/jCc8ptlAKulUj90jSqg==" };

export const answerDirective: Description = {
  operationId: "answerDirective",
  tag: "Assistants",
  summary: "Answer a directive of Alexa",
  words: [
    "Alexa calls the Lambda function of a skill, and the function forwards the directive to this address. Your client never calls it. Read this if you write the Lambda function yourself.",
    "The user's access token is inside the directive. It must be a token of the OAuth client that belongs to the skill's outlet. Reading needs the scope `devices:read`, commands need `devices:control`.",
    "Every directive that can be read is answered with 200 and an event. An error is an event too, named `ErrorResponse`, with Alexa's own error type.",
  ],
  parameters: [
    {
      name: "region",
      in: "query",
      isRequired: false,
      schema: { type: "string", enum: awsRegions },
      meaning:
        "The AWS region of the Lambda function. `AcceptGrant` needs it: changes are reported to the event gateway of this region.",
    },
  ],
  body: {
    contentType: "application/json",
    schema: directive,
    example: {
      directive: {
        header: {
          namespace: "Alexa",
          name: "ReportState",
          messageId: "5f8a426e-01e4-4cc9-8b79-65f8bd0fd8a4",
          ...answered,
        },
        endpoint: { scope: { type: "BearerToken", token: "bwa_…" }, endpointId, cookie: {} },
        payload: {},
      },
    },
  },
  answers: [
    jsonAnswer(200, "The event that answers the directive.", event, {
      context: {
        properties: [
          {
            namespace: "Alexa.EndpointHealth",
            name: "connectivity",
            value: { value: "OK" },
            timeOfSample: "2026-11-15T21:00:00.123Z",
            uncertaintyInMilliseconds: 0,
          },
        ],
      },
      event: {
        header: {
          namespace: "Alexa",
          name: "StateReport",
          messageId: "0c1f6b6e-6f5c-4f5b-9f0c-9a52d8b9a0f1",
          ...answered,
        },
        endpoint: { endpointId },
        payload: {},
      },
    }),
  ],
  errors: [{ status: 400, code: "invalid_request", when: "The body is not a directive." }],
};
