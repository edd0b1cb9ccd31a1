import { unexpectedBody } from "../../http/documentation/common-errors.ts";
import type { Description, ErrorDescription } from "../../http/documentation/description.ts";
import { jsonAnswer, pathParameter } from "../../http/documentation/description-parts.ts";
import { okContent } from "../../http/documentation/schema.ts";
import type { Schema } from "../../model/json-schema.ts";
import { boolean, integer, list, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";
import { unknownAttribute } from "./device-descriptions.ts";

const webhookId = pathParameter("webhookId", "The webhook's id.", "wh_9mS1rL0c2VbQhZkD");
const unknownWebhook: ErrorDescription = {
  status: 404,
  code: "not_found",
  when: "The client has no such webhook or delivery for the token's user or tenant.",
};

const ofWebhook = {
  webhookId: text("Its id."),
  url: text("The address that gets the messages; empty when it can't be unsealed."),
  deviceIds: list("Only these devices; empty means all that the token covers.", { type: "integer" }),
  attributes: list("Only these attributes; empty means all.", { type: "string" }),
  createdTime: milliseconds("When it was created."),
};
const ofThings = {
  things: boolean("True when it gets `thing` and `thingCommand` messages; missing otherwise."),
  linkSessions: boolean("True when it gets `linkSession` messages; missing otherwise."),
  paused: boolean("True while an operator has paused it: its messages wait. Missing otherwise."),
  problem: text("Why it gets no messages; missing otherwise."),
};
const webhook: Schema = named("Webhook", object("An address that gets a message for each event.", ofWebhook, ofThings));
const example = {
  webhookId: "wh_9mS1rL0c2VbQhZkD",
  url: "https://example.com/breezeway",
  deviceIds: [41],
  attributes: [],
  createdTime: 1_785_312_000_000,
};
const delivery: Schema = named(
  "Delivery",
  object("A message and its state.", {
    deliveryId: integer("Its id."),
    messageId: text("The `webhook-id` under which it is sent, the same each time."),
    type: text(
      "What it is about: `attribute`, `thing`, `thingCommand`, `alert`, `link`, `command`, `device` or `resync`.",
    ),
    deviceId: orNull(integer("The device that it is about; null for a `resync`.")),
    state: text("Its state.", { enum: ["waiting", "delivered", "failed"] }),
    attempts: integer("How often it was sent."),
    status: orNull(integer("The HTTP status of the last answer.")),
    text: orNull(text("Why the last attempt failed.")),
    createdTime: milliseconds("When it was created."),
    nextTime: orNull(milliseconds("When it is sent next; null while it waits behind another message of that device.")),
    settledTime: orNull(milliseconds("When it was delivered or given up.")),
  }),
);
const deliveryExample = {
  deliveryId: 12,
  messageId: "msg_wh_9mS1rL0c2VbQhZkD_0-2s",
  type: "attribute",
  deviceId: 41,
  state: "delivered",
  attempts: 1,
  status: 204,
  text: null,
  createdTime: 1_785_312_000_000,
  nextTime: null,
  settledTime: 1_785_312_000_120,
};

export const addWebhook: Description = {
  operationId: "addWebhook",
  tag: "Events",
  summary: "Create a webhook",
  words: [
    "From now on every change, alert, link state and fan outcome is sent to the address as a signed POST (Standard Webhooks: verify `webhook-id`, `webhook-timestamp` and `webhook-signature` with the secret, which is shown here and never again. The SDK's `verifyWebhook` does that). The body is `{type, timestamp, data}`; for `attribute` the data holds all that one commit changed: `{deviceId, updateTime, cause, attributes}`.",
    "With `things: true` a commit that changed things is also sent as a message `thing`, after the one about its attributes: `{deviceId, updateTime, cause, things: [{thingId, what, fields}]}`, with what and fields as in the events of `/v3/events`. It has a `webhook-id` of its own. A new state of a command to a thing is a message `thingCommand`, with the data of that event. Firings of alerts on things are sent only then, as `alert` messages with `thingId` and `field`.",
    "With `linkSessions: true`, which needs the scope `links`, the end or the expiry of a link session is a message `linkSession`, with the data of that event.",
    "Answer with a 2xx within 15 seconds. Each message is sent at least once, those of one device in order: the next one waits until the one before it was delivered. A failed message is retried after 5 seconds, then with growing pauses, for 24 hours. Use `webhook-id` to skip messages that you have received already.",
    'Up to 10,000 messages wait for one webhook, and 16 MiB of them. Beyond that the oldest are replaced by one message of the type `resync` with `{reason: "too_many_waiting"}`: messages are missing, so read your devices again.',
    "A webhook belongs to your client and to the token's user or tenant. It ends when the user revokes the client's access. There may be 20. It gets `alert` messages only if the token that creates it has the scope `alerts`.",
  ],
  body: {
    contentType: "application/json",
    schema: object(
      "The new webhook.",
      { url: text("An https address on the public internet. Redirects are not followed.", { format: "uri" }) },
      {
        deviceIds: list("Only these devices, 100 at most.", { type: ["integer", "string"] }),
        attributes: list("Only these attributes, 600 at most, in any published spelling; messages use yours.", {
          type: "string",
        }),
        linkSessions: boolean("Whether it gets `linkSession` messages; false by default. Needs the scope `links`."),
        things: boolean(
          "Whether it gets `thing` and `thingCommand` messages, and `alert` messages of alerts on things, too; false by default. `attributes` does not restrict them.",
        ),
      },
    ),
    example: { url: "https://example.com/breezeway", deviceIds: [41] },
  },
  answers: [
    jsonAnswer(
      201,
      "The webhook is created.",
      object("The webhook with its secret.", { ...ofWebhook, secret: text("Shown this once.") }, ofThings),
      { ...example, secret: "whsec_…" },
    ),
  ],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: "The body is malformed, or the address is not a public https one that can be resolved.",
    },
    { status: 404, code: "unknown_device", when: "The token gives access to no device with one of the ids." },
    unknownAttribute,
    {
      status: 409,
      code: "limit_reached",
      when: "There are 20 webhooks already, or the filter names more than 100 devices or 600 attributes.",
    },
  ],
};

export const listWebhooks: Description = {
  operationId: "listWebhooks",
  tag: "Events",
  summary: "List webhooks",
  words: ["The webhooks of your client for the token's user or tenant."],
  answers: [
    jsonAnswer(
      200,
      "The webhooks, the oldest first.",
      object("All of them.", { webhooks: list("The oldest first.", webhook) }),
      { webhooks: [example] },
    ),
  ],
};

export const removeWebhook: Description = {
  operationId: "removeWebhook",
  tag: "Events",
  summary: "Remove a webhook",
  words: ["Nothing more is sent to it, and its deliveries are removed."],
  parameters: [webhookId],
  answers: [{ status: 200, meaning: "The webhook is removed.", content: okContent }],
  errors: [unexpectedBody, unknownWebhook],
};

export const listDeliveries: Description = {
  operationId: "listDeliveries",
  tag: "Events",
  summary: "List deliveries",
  words: [
    "The last 100 messages of a webhook and their states, the newest first. Settled ones are kept as long as events, the newest 1,000 of each webhook.",
  ],
  parameters: [webhookId],
  answers: [
    jsonAnswer(200, "The deliveries.", object("The last 100.", { deliveries: list("The newest first.", delivery) }), {
      deliveries: [deliveryExample],
    }),
  ],
  errors: [unknownWebhook],
};

export const resendDelivery: Description = {
  operationId: "resendDelivery",
  tag: "Events",
  summary: "Send a message again",
  words: [
    "Sends the same message again, with the same `webhook-id`, as a new delivery after all that wait for that device.",
  ],
  parameters: [webhookId, pathParameter("deliveryId", "The delivery's id.", "12")],
  answers: [
    jsonAnswer(202, "The new delivery.", delivery, {
      ...deliveryExample,
      deliveryId: 13,
      state: "waiting",
      attempts: 0,
      status: null,
      settledTime: null,
    }),
  ],
  errors: [
    unexpectedBody,
    unknownWebhook,
    { status: 409, code: "limit_reached", when: "10,000 messages wait for the webhook already." },
  ],
};
