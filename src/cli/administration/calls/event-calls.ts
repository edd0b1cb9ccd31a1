import { integer, list, object, orNull, type Schema, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";
import { cursor, ofTenant } from "./fields.ts";

const timeMs = (meaning: string) => integer(`${meaning} Milliseconds since 1970.`);
const raw: Schema = { type: "object", description: "The entry as the log has it.", additionalProperties: {} };
const kind = text(
  "`attribute`, `thing`, `alert`, `thingAlert`, `command`, `thingCommand`, `link`, `linkSession` or `device`.",
);
const deviceId = orNull(integer("The device; null for none."));
const exampleTime = 1_772_357_400_000;
const sentence = "Hall: smoke alarm";

/** What happened last. */
export const eventCalls: readonly AdminCall[] = [
  {
    act: "home events",
    method: "GET",
    path: "/events",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List what happened last, one entry for each cause with everything that it led to",
    words: [
      "An entry begins with a change and goes on with the alerts that it made fire, with what they wrote and commanded, and with the messages that webhooks got. A page looks at no more than 5,000 entries of the log, so it can be short while there is a `cursor`.",
    ],
    fields: [
      ofTenant,
      { option: "user", kind: "text", meaning: "Only of this user." },
      { option: "device", kind: "text", meaning: "Only causes that concern this device." },
      { option: "kind", kind: "text", meaning: "Only causes with an entry of this kind." },
    ],
    answer: object(
      "One page of events.",
      {
        events: list(
          "Newest first.",
          object("What one cause has led to.", {
            eventId: text("Its place in the log."),
            time: timeMs("When it began."),
            userId: orNull(integer("The user.")),
            tenantId: orNull(integer("The tenant.")),
            deviceId,
            cause: orNull(text("`ecosystem`, `client`, `administrator` or `alert`; null when the log does not say.")),
            sentence: text("What it began with."),
            steps: list(
              "Its entries, oldest first, at most 50.",
              object("An entry.", { time: timeMs("When."), kind, deviceId, sentence: text("What it says."), raw }),
            ),
            moreSteps: integer("Entries that are left out."),
            deliveries: list(
              "Messages about it that webhooks got, as far as they are among the last 200 of each.",
              object("A delivery.", {
                deliveryId: integer("Its id."),
                webhookId: text("The webhook."),
                type: text("The type of the message."),
                state: text("`waiting`, `delivered` or `failed`."),
                status: orNull(integer("The last HTTP status.")),
              }),
            ),
          }),
        ),
        lookedBackTo: orNull(timeMs("How far back was looked for a page that is not full; null for a full one.")),
      },
      cursor,
    ),
    example: {
      events: [
        {
          eventId: "0-12",
          time: exampleTime,
          userId: 3,
          tenantId: 1,
          deviceId: 8,
          cause: "ecosystem",
          sentence,
          steps: [{ time: exampleTime, kind: "attribute", deviceId: 8, sentence, raw: { cause: { by: "ecosystem" } } }],
          moreSteps: 0,
          deliveries: [{ deliveryId: 5, webhookId: "wh_…", type: "thing", state: "delivered", status: 204 }],
        },
      ],
      lookedBackTo: null,
    },
  },
];
