import { unexpectedBody } from "../../http/documentation/common-errors.ts";
import type {
  ContentDescription,
  Description,
  ErrorDescription,
  Parameter,
  Schema,
} from "../../http/documentation/description.ts";
import {
  boolean,
  integer,
  list,
  milliseconds,
  named,
  object,
  okContent,
  orNull,
  text,
} from "../../http/documentation/schema.ts";

const operations = ["regex", "equals", ">", ">=", "<", "<=", "=="];

const alertId: Parameter = {
  name: "alertId",
  in: "path",
  isRequired: true,
  schema: { type: "string" },
  meaning: "The alert's id.",
  example: "7",
};

const unknownAlert: ErrorDescription = {
  status: 404,
  code: "unknown_trigger",
  when: "The token gives access to no alert with this id.",
};
const unknownDevice: ErrorDescription = {
  status: 404,
  code: "unknown_device",
  when: "The token gives access to no device with this id, or the user has no device with the id of a target.",
};
const definitionErrors: readonly ErrorDescription[] = [
  { status: 400, code: "invalid_request", when: "A member is missing or malformed, or a pattern isn't RE2." },
  { status: 403, code: "read_only_attribute", when: "A target names an attribute that only the ecosystem sets." },
  unknownDevice,
  { status: 404, code: "unknown_attribute", when: "A linked account has no attribute of that name." },
  { status: 413, code: "value_too_large", when: "The value of a target is longer than 8 KB." },
];

const target = (value: Schema) =>
  object("What the alert writes, and where.", {
    deviceId: integer("A device of the same user.", { minimum: 1 }),
    attrName: text("Its attribute; on a linked account only a `requestWrite`."),
    value,
  });

const requiredFields = {
  deviceId: integer("The device to watch.", { minimum: 1 }),
  attrName: text("The attribute to watch."),
  operation: text("How to compare.", { enum: operations }),
  action: text("`attribute` writes to the targets; any other word is only sent as an event."),
};
const thresholdFields = {
  stringThreshold: text("The pattern of `regex`, which must match the whole value, or the text of `equals`."),
  threshold: { type: "number", description: "What the other operations compare with." } as Schema,
};
const words = {
  address: text("Stored with the alert and sent when it fires."),
  msg: text("Stored with the alert and sent when it fires."),
};
const switches = {
  autoDisarm: boolean("Fire once, and not again until the condition has been false."),
  autoDelete: boolean("Remove it when it has fired."),
  autoDisable: boolean("Disable it when it has fired."),
  enable: boolean("Whether it is enabled; enabling arms it."),
};

const optionalFields = {
  ...thresholdFields,
  ...words,
  ...switches,
  targets: list(
    "What `attribute` writes.",
    target({ type: ["string", "number", "boolean", "null"], description: "The value; null erases." }),
    { maxItems: 100 },
  ),
};

const alert: Schema = named(
  "Alert",
  object(
    "An alert: its definition and its state.",
    {
      alertId: integer("Its id.", { minimum: 1 }),
      ...requiredFields,
      targets: list("What it writes.", target(orNull(text("The value; null erases.")))),
      ...words,
      ...switches,
      disarmed: boolean("Whether it has fired and its condition has not been false since."),
      disabledReason: orNull(text("Why the service disabled it; null when a client did, or when it is enabled.")),
      createdTime: milliseconds("When it was created."),
      firedTime: orNull(milliseconds("When it fired last.")),
      firings: integer("How often it has fired.", { minimum: 0 }),
    },
    thresholdFields,
  ),
);

const sampleDefinition = {
  deviceId: 41,
  attrName: "d.structures[1].a.away",
  operation: "regex",
  stringThreshold: "away|auto-away",
  action: "attribute",
  targets: [{ deviceId: 40, attrName: "power", value: "off" }],
  autoDisarm: true,
};
const sample = {
  alertId: 7,
  ...sampleDefinition,
  address: "",
  msg: "",
  autoDelete: false,
  autoDisable: false,
  enable: true,
  disarmed: false,
  disabledReason: null,
  createdTime: 1_785_312_000_000,
  firedTime: null,
  firings: 0,
};

const json = (schema: Schema, example: unknown): ContentDescription => ({
  contentType: "application/json",
  schema,
  example,
});
const body = json(
  named("AlertDefinition", object("The definition of an alert.", requiredFields, optionalFields)),
  sampleDefinition,
);

export const listAlerts: Description = {
  operationId: "listAlerts",
  tag: "Alerts",
  summary: "List alerts",
  words: [
    "The alerts of the user, or those on one device, 100 a page, ascending by id. Ask again with `cursor` for the next page, and with the same `deviceId` if there was one; the last page has none.",
  ],
  parameters: [
    {
      name: "deviceId",
      in: "query",
      isRequired: false,
      schema: { type: "integer", minimum: 1 },
      meaning: "Only alerts on this device. An enterprise token must name one.",
      example: "41",
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
      when: "An enterprise token named no device, or the cursor is not from this list.",
    },
    unknownDevice,
  ],
};

const tooLarge: ErrorDescription = {
  status: 409,
  code: "limit_reached",
  when: "The alert takes more than 16 KB, or all alerts of the user would take more than 8 MB.",
};

export const createAlert: Description = {
  operationId: "createAlert",
  tag: "Alerts",
  summary: "Create an alert",
  words: [
    "An alert watches one attribute and fires when a change or a write makes its condition true; with `autoDisarm` once, until the condition has been false. Creating an alert never fires it. Its writes are durable together with the change that caused them.",
    "A `regex` must match the whole value: `away` doesn't match `auto-away`; `away|auto-away` and `(auto-)?away` do. The syntax is RE2, up to 256 characters.",
    "An alert with `targets` writes devices: creating it also needs the scope `devices:control`.",
  ],
  body,
  answers: [{ status: 201, meaning: "The alert is created.", content: json(alert, sample) }],
  errors: [
    ...definitionErrors,
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
    "Replaces the whole definition; omitted members are off or empty. The device can't be changed. A new condition, another `autoDisarm` or enabling arms the alert. A definition with `targets` also needs the scope `devices:control`.",
  ],
  parameters: [alertId],
  body,
  answers: [{ status: 200, meaning: "The alert as it is now.", content: json(alert, sample) }],
  errors: [...definitionErrors, unknownAlert, tooLarge],
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
          value: orNull(text("The present value of its attribute.")),
          conditionIsTrue: boolean("Whether the condition is true for it."),
          explanation: text("The same in a sentence."),
          evaluations: list(
            "Evaluated events, newest first.",
            object(
              "One change or write of the attribute.",
              {
                time: milliseconds("When."),
                value: orNull(text("What the attribute became; long values are cut.")),
                outcome: text(
                  "`fired`; `ignored`: true, but it had fired before; `rearmed`: false, so that it may fire again; `unmet`: false; `stopped`: not evaluated, because a limit was reached.",
                  { enum: ["fired", "ignored", "rearmed", "unmet", "stopped"] },
                ),
              },
              { note: text("More detail: a limit that was reached, a target device that was removed.") },
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
  errors: [unknownAlert],
};

export const dryRunAlert: Description = {
  operationId: "dryRunAlert",
  tag: "Alerts",
  summary: "Try an alert on history",
  words: [
    "When a definition would have fired in a period of the device's history, had it been created at the beginning of the period. Nothing is created and nothing is written.",
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
        object("What it would have done.", {
          events: integer("How many changes and writes of the attribute there were.", { minimum: 0 }),
          firings: list(
            "When it would have fired, oldest first.",
            object("A firing.", { time: milliseconds("When."), value: orNull(text("What the attribute became.")) }),
          ),
        }),
        { events: 3, firings: [{ time: 1_785_312_004_000, value: "away" }] },
      ),
    },
  ],
  errors: [
    ...definitionErrors,
    {
      status: 409,
      code: "limit_reached",
      when: "Another dry run of the same user or tenant is running, or the device has more than 100,000 changes in this period.",
    },
  ],
};
