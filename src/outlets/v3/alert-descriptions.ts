import { unexpectedBody } from "../../http/documentation/common-errors.ts";
import type { Description } from "../../http/documentation/description.ts";
import { okContent } from "../../http/documentation/schema.ts";
import { boolean, integer, list, milliseconds, object, orNull, text } from "../../model/json-schema.ts";
import {
  alert,
  alertId,
  body,
  definitionErrors,
  json,
  optionalFields,
  requiredFields,
  sample,
  sampleDefinition,
  thingOrder,
  tooLarge,
  unknownAlert,
  unknownDevice,
  unknownThing,
} from "./alert-schemas.ts";

export const listAlerts: Description = {
  operationId: "listAlerts",
  tag: "Alerts",
  summary: "List alerts",
  words: [
    "The alerts of the user, or those on one device, 100 a page, ascending by id. Ask again with `cursor` for the next page, and with the same other parameters; the last page has none.",
    "Alerts on things are left out, unless you ask for them with `things=true`: then the list has both kinds, or only the alerts on one thing.",
  ],
  parameters: [
    {
      name: "deviceId",
      in: "query",
      isRequired: false,
      schema: { type: "integer", minimum: 1 },
      meaning:
        "Only alerts on this device, and with `things=true` on the things that it reports. An enterprise token must name a device or a thing.",
      example: "41",
    },
    {
      name: "things",
      in: "query",
      isRequired: false,
      schema: { type: "string", enum: ["true", "false"] },
      meaning: "Whether the list has alerts on things too; false by default.",
    },
    {
      name: "thingId",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "Only alerts on this thing. Needs `things=true`.",
    },
    {
      name: "cursor",
      in: "query",
      isRequired: false,
      schema: { type: "string" },
      meaning: "From the previous page.",
    },
  ],
  answers: [
    {
      status: 200,
      meaning: "A page of alerts.",
      content: json(
        object(
          "A page of alerts.",
          { alerts: list("The alerts of this page.", alert) },
          { cursor: text("For the next page; missing on the last one.") },
        ),
        { alerts: [sample] },
      ),
    },
  ],
  errors: [
    {
      status: 400,
      code: "invalid_request",
      when: "An enterprise token named neither a device nor a thing, `thingId` was sent without `things=true`, or the cursor is not from this list.",
    },
    unknownDevice,
    unknownThing,
  ],
};

export const createAlert: Description = {
  operationId: "createAlert",
  tag: "Alerts",
  summary: "Create an alert",
  words: [
    "An alert watches one attribute of a device, or one field of a thing, and fires when a change or a write makes its condition true; with `autoDisarm` once, until the condition has been false. Creating an alert never fires it. Its writes are durable together with the change that caused them.",
    "A `regex` must match the whole value: `away` doesn't match `auto-away`; `away|auto-away` and `(auto-)?away` do. The syntax is RE2, up to 256 characters.",
    "An alert on a thing has `thingId` and `field` in place of `deviceId` and `attrName`. The field is a trait of the thing with one of its fields, or with `available`. Its value is compared as text: an enum or a text as it is, true and false as `true` and `false`, a number in decimal digits such as `21.5`. Null means that the ecosystem did not tell the value: it satisfies no condition and arms the alert. A condition that no value of the field can satisfy is refused. While the thing is gone, `available` is `false` and all other fields are null; when it is back, every field counts as changed. The alert stays when the thing loses its index in the virtual device, and is removed with the thing, 90 days after that is gone, or when the account is unlinked. It counts towards the alerts of the virtual device. Platform calls neither show nor change it.",
    "An alert with `commands` sends commands to things at each firing: to one thing, or to all things of a kind that the user has at that moment. Each command has a receipt, which names the alert as its `cause`. A refused command changes nothing else; its receipt says why. A firing sends at most once, and all alerts that one change fires send at most 1,000 commands, 200 of them to things of linked accounts.",
    "An alert with `targets` or `commands` controls devices: creating it also needs the scope `devices:control`. With a user's token without scopes, it may command nothing but fan timers.",
  ],
  body,
  answers: [{ status: 201, meaning: "The alert is created.", content: json(alert, sample) }],
  errors: [
    ...definitionErrors,
    unknownThing,
    { status: 409, code: "too_many_triggers", when: "The device has 1,000 alerts already, or the user 10,000." },
    tooLarge,
  ],
};

export const getAlert: Description = {
  operationId: "getAlert",
  tag: "Alerts",
  summary: "Read an alert",
  words: ["Its definition and its state."],
  parameters: [alertId],
  answers: [{ status: 200, meaning: "The alert.", content: json(alert, sample) }],
  errors: [unknownAlert],
};

export const changeAlert: Description = {
  operationId: "changeAlert",
  tag: "Alerts",
  summary: "Change an alert",
  words: [
    "Replaces the whole definition; omitted members are off or empty. The device or the thing can't be changed. A new condition, another `autoDisarm` or enabling arms the alert. A definition with `targets` or `commands` also needs the scope `devices:control`.",
  ],
  parameters: [alertId],
  body,
  answers: [{ status: 200, meaning: "The alert as it is now.", content: json(alert, sample) }],
  errors: [...definitionErrors, unknownAlert, unknownThing, tooLarge],
};

export const removeAlert: Description = {
  operationId: "removeAlert",
  tag: "Alerts",
  summary: "Remove an alert",
  words: ["Its id is never used again."],
  parameters: [alertId],
  answers: [{ status: 200, meaning: "The alert is removed.", content: okContent }],
  errors: [unexpectedBody, unknownAlert],
};

export const explainAlert: Description = {
  operationId: "explainAlert",
  tag: "Alerts",
  summary: "Ask why an alert fired, or didn't",
  words: ["The state of the alert, and up to 50 of the last events that it evaluated."],
  parameters: [alertId],
  answers: [
    {
      status: 200,
      meaning: "The state of the alert.",
      content: json(
        object("The state of an alert, and why.", {
          alert,
          value: orNull(text("The present value of its attribute or field.")),
          conditionIsTrue: orNull(
            boolean(
              "Whether the condition is true for it; null if its pattern is too costly, in itself or on this value.",
            ),
          ),
          explanation: text("The same in a sentence."),
          evaluations: list(
            "Evaluated events, newest first.",
            object(
              "One change or write of the attribute or field.",
              {
                time: milliseconds("When."),
                value: orNull(text("The new value; long values are cut.")),
                outcome: text(
                  "`fired`; `ignored`: true, but it had fired before; `rearmed`: false, so that it may fire again; `unmet`: false; `stopped`: not evaluated; its note says why.",
                  { enum: ["fired", "ignored", "rearmed", "unmet", "stopped"] },
                ),
              },
              {
                note: text(
                  "More detail: a limit that was reached, a device or thing that was removed, commands that were refused.",
                ),
              },
            ),
          ),
        }),
        {
          alert: { ...sample, disarmed: true, firedTime: 1_785_312_004_000, firings: 1 },
          value: "away",
          conditionIsTrue: true,
          explanation: "It fired at 2026-07-29T08:00:04.000Z and is disarmed until its condition has been false.",
          evaluations: [{ time: 1_785_312_004_000, value: "away", outcome: "fired" }],
        },
      ),
    },
  ],
  errors: [
    unknownAlert,
    {
      status: 409,
      code: "limit_reached",
      when: "20 explanations of alerts with costly patterns wait for the same user or tenant.",
    },
  ],
};

export const dryRunAlert: Description = {
  operationId: "dryRunAlert",
  tag: "Alerts",
  summary: "Try an alert on history",
  words: [
    "When a definition would have fired in a period of the device's history, had it been created at the beginning of the period. Nothing is created, nothing is written and no command is sent.",
  ],
  body: json(
    object("A definition, and a period of history; all history when left out.", requiredFields, {
      ...optionalFields,
      from: milliseconds("Events after this time."),
      to: milliseconds("Events up to this time."),
    }),
    { ...sampleDefinition, from: 1_785_312_000_000 },
  ),
  answers: [
    {
      status: 200,
      meaning: "What it would have done.",
      content: json(
        object(
          "What it would have done.",
          {
            events: integer("How many changes and writes of the attribute or field there were.", { minimum: 0 }),
            firings: list(
              "When it would have fired, oldest first.",
              object("A firing.", { time: milliseconds("When."), value: orNull(text("The new value.")) }),
            ),
          },
          {
            commands: list(
              "What each firing would send to the things that the user has now; missing when it would send nothing.",
              thingOrder,
            ),
          },
        ),
        { events: 3, firings: [{ time: 1_785_312_004_000, value: "away" }] },
      ),
    },
  ],
  errors: [
    ...definitionErrors,
    unknownThing,
    {
      status: 409,
      code: "limit_reached",
      when: "Another dry run of the same user or tenant is running, or the device has more than 100,000 changes in this period.",
    },
  ],
};
