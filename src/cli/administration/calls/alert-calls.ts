import { boolean, integer, list, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, ofTenant } from "./fields.ts";

const exampleThingId = "t_Zk3xV0bqT2m8cQx1r5sYwA";
const timeMs = (meaning: string) => integer(`${meaning} Milliseconds since 1970.`);
const stateText = text("`armed`, `waiting` until its condition has been false, `disabled`, or `stopped` by Breezeway.");
const value = orNull(text("The value; null for none."));

const alert = object(
  "An alert.",
  {
    alertId: integer("Its id."),
    userId: integer("Its user."),
    deviceId: integer("The device whose limit of alerts it uses."),
    sentence: text("What it does, in a sentence with names."),
    state: stateText,
    operation: text("How the value is compared."),
    value: text("What it is compared with."),
    action: text("What a firing is called; `attribute` writes to the targets."),
    targets: list(
      "What a firing writes.",
      object("A write.", {
        deviceId: integer("The device."),
        attrName: text("The attribute."),
        value: text("The value; empty erases it."),
      }),
    ),
    commands: list("What a firing sends to things, in words.", text("A command.")),
    commandOptions: list("The same as the option `command` takes them.", text("A command.")),
    msg: text("The message that a firing carries."),
    autoDisarm: boolean("It fires once, and not again until its condition has been false."),
    autoDelete: boolean("It is deleted when it has fired."),
    autoDisable: boolean("It is disabled when it has fired."),
    disabledReason: orNull(text("Why Breezeway disabled it.")),
    createdTime: timeMs("When it was made."),
    firedTime: orNull(timeMs("When it last fired.")),
    firings: integer("How often it has fired."),
  },
  {
    attrName: text("The attribute that it watches."),
    thingId: text("The thing that it watches, in place of an attribute."),
    field: text("The field of the thing."),
  },
);
const exampleAlert = {
  alertId: 7,
  userId: 3,
  deviceId: 8,
  thingId: exampleThingId,
  field: "smoke.state",
  sentence: 'When Hall smoke.state is "alarm", tell “notify”.',
  state: "armed",
  operation: "equals",
  value: "alarm",
  action: "notify",
  targets: [],
  commands: [],
  commandOptions: [],
  msg: "",
  autoDisarm: true,
  autoDelete: false,
  autoDisable: false,
  disabledReason: null,
  createdTime: 1_772_357_400_000,
  firedTime: null,
  firings: 0,
};

const run = {
  events: integer("Changes and writes of what it watches in this period."),
  fired: integer("How often it would have fired."),
  firings: list("The last 50 of them.", object("A firing.", { time: timeMs("When."), value })),
  reaches: integer("Things that the commands of a firing would reach now."),
};
const exampleRun = { events: 12, fired: 1, firings: [{ time: 1_772_357_400_000, value: "alarm" }], reaches: 0 };

const period: readonly AdminField[] = [
  { option: "from", kind: "text", meaning: "From when on: `2h`, `3d` or an ISO time. All history when left out." },
  { option: "to", kind: "text", meaning: "Until when." },
];
const rule: readonly AdminField[] = [
  { option: "device", kind: "number", meaning: "The device that it watches." },
  { option: "attribute", kind: "text", meaning: "The attribute of the device." },
  {
    option: "thing",
    kind: "text",
    meaning: "The thing that it watches, in place of a device.",
    example: exampleThingId,
  },
  { option: "field", kind: "text", meaning: "The field of the thing.", example: "smoke.state" },
  { option: "when", kind: "text", meaning: "`equals`, `regex`, `>`, `>=`, `<`, `<=` or `==`; `equals` when left out." },
  { option: "value", kind: "text", meaning: "What it is compared with.", example: "alarm" },
  { option: "set", kind: "texts", meaning: "What a firing writes: `2,power=on` for device 2." },
  {
    option: "command",
    kind: "texts",
    meaning: "What a firing sends: `light: onOff set on=true`, or a thing's id before the colon.",
  },
  { option: "action", kind: "text", meaning: "What a firing is called when it writes nothing.", example: "notify" },
  { option: "message", kind: "text", meaning: "The message that a firing carries." },
  { option: "auto-disarm", kind: "flag", meaning: "Fire once, and not again until the condition has been false." },
  { option: "auto-disable", kind: "flag", meaning: "Fire once, then be disabled." },
  { option: "auto-delete", kind: "flag", meaning: "Fire once, then be deleted." },
];
const definition: readonly AdminField[] = [...rule, { option: "disabled", kind: "flag", meaning: "Add it disabled." }];

const ofTenants = { subject: "tenants" } as const;
const alertPath = "/users/:user/alerts/:alert";
const done = object("The alert.", { alertId: integer("Its id."), state: stateText });

/** Alerts of users, as operators see them. */
export const alertCalls: readonly AdminCall[] = [
  {
    act: "home alert list",
    method: "GET",
    path: "/alerts",
    need: "read",
    ...ofTenants,
    isPaged: true,
    summary: "List alerts, newest first",
    fields: [
      ofTenant,
      { option: "user", kind: "text", meaning: "Only of this user." },
      { option: "device", kind: "text", meaning: "Only on this device and its things." },
      { option: "state", kind: "text", meaning: "Only of this state: `armed`, `waiting`, `disabled`, `stopped`." },
    ],
    answer: object("One page of alerts.", { alerts: list("Newest first.", alert) }, cursor),
    example: { alerts: [exampleAlert] },
  },
  {
    act: "home alert show",
    method: "GET",
    path: alertPath,
    need: "read",
    ...ofTenants,
    summary: "Show an alert, and why it fired or did not fire",
    answer: object("The explanation.", {
      alert,
      value: orNull(text("The present value of what it watches.")),
      conditionIsTrue: orNull(
        boolean("Whether the condition is true now; null when its pattern takes too many steps."),
      ),
      explanation: text("Its state in a sentence."),
      evaluations: list(
        "Up to 50 of the last events that it evaluated, newest first.",
        object("An event.", {
          time: timeMs("When."),
          value,
          outcome: text("`fired`, `ignored`, `rearmed`, `unmet` or `stopped`."),
          note: orNull(text("More, such as a limit that was reached.")),
        }),
      ),
    }),
    example: {
      alert: exampleAlert,
      value: "ok",
      conditionIsTrue: false,
      explanation: "It is armed, and fires when its condition becomes true.",
      evaluations: [{ time: 1_772_357_400_000, value: "ok", outcome: "unmet", note: null }],
    },
  },
  {
    act: "home alert test",
    method: "GET",
    path: `${alertPath}/test`,
    need: "read",
    ...ofTenants,
    summary: "Show what an alert would do at a value, without doing it",
    fields: [{ option: "value", kind: "text", meaning: "The value that is tried.", example: "alarm" }],
    answer: object("What would happen.", {
      value: text("The value."),
      conditionIsTrue: boolean("Whether the condition is true for it."),
      outcome: text("`fired`: it would fire. `ignored`, `rearmed`, `unmet`, `disabled`: it would not."),
      commands: list("What a firing would send to things, in words.", text("A command.")),
    }),
    example: { value: "alarm", conditionIsTrue: true, outcome: "fired", commands: [] },
  },
  {
    act: "home alert dry-run",
    method: "GET",
    path: `${alertPath}/dry-run`,
    need: "read",
    ...ofTenants,
    summary: "Show when an alert would have fired, had it existed as it is now",
    fields: period,
    answer: object("The dry run.", run),
    example: exampleRun,
  },
  {
    act: "home alert preview",
    method: "GET",
    path: "/users/:user/alert-preview",
    need: "read",
    ...ofTenants,
    summary: "Check an alert, and show when it would have fired, without adding it",
    fields: [...definition, ...period],
    answer: object("The sentence and the dry run.", { sentence: text("What it does."), ...run }),
    example: { sentence: exampleAlert.sentence, ...exampleRun },
  },
  {
    act: "home alert add",
    method: "POST",
    path: "/users/:user/alerts",
    need: "change",
    ...ofTenants,
    summary: "Add an alert to a user's device or thing",
    fields: definition,
    answer: alert,
    example: exampleAlert,
  },
  {
    act: "home alert edit",
    method: "PUT",
    path: alertPath,
    need: "change",
    ...ofTenants,
    summary: "Replace what an alert compares and does",
    words: [
      "Send the whole definition. Its id, its device or thing, its history, and whether it is enabled stay.",
      "It stays armed or waiting when only its acts or its message change. With another condition or field it is armed, and fires at the next event that makes the condition true, as a new alert does.",
    ],
    fields: rule,
    answer: alert,
    example: exampleAlert,
  },
  {
    act: "home alert enable",
    method: "POST",
    path: `${alertPath}/enable`,
    need: "change",
    ...ofTenants,
    summary: "Enable an alert, and arm it",
    answer: done,
    example: { alertId: 7, state: "armed" },
  },
  {
    act: "home alert disable",
    method: "POST",
    path: `${alertPath}/disable`,
    need: "change",
    ...ofTenants,
    summary: "Disable an alert, so that it does not fire",
    answer: done,
    example: { alertId: 7, state: "disabled" },
  },
  {
    act: "home alert remove",
    method: "DELETE",
    path: alertPath,
    need: "change",
    ...ofTenants,
    asksPassword: true,
    summary: "Remove an alert",
    answer: object("The alert.", { alertId: integer("Its id.") }),
    example: { alertId: 7 },
  },
];
