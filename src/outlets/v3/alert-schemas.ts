import { thingKinds } from "../../home/thing.ts";
import type { ContentDescription, ErrorDescription } from "../../http/documentation/description.ts";
import { pathParameter } from "../../http/documentation/description-parts.ts";
import type { Schema } from "../../model/json-schema.ts";
import { boolean, integer, list, map, milliseconds, named, object, orNull, text } from "../../model/json-schema.ts";

const operations = ["regex", "equals", ">", ">=", "<", "<=", "=="];

export const alertId = pathParameter("alertId", "The alert's id.", "7");

export const unknownAlert: ErrorDescription = {
  status: 404,
  code: "unknown_trigger",
  when: "The token gives access to no alert with this id.",
};
export const unknownDevice: ErrorDescription = {
  status: 404,
  code: "unknown_device",
  when: "The token gives access to no device with this id, or the user has no device with the id of a target.",
};
export const unknownThing: ErrorDescription = {
  status: 404,
  code: "unknown_thing",
  when: "The token gives access to no thing with this id, or the user has no thing with the id of a command.",
};
/** Errors of every definition, of new alerts and of changed ones. */
export const definitionErrors: readonly ErrorDescription[] = [
  {
    status: 400,
    code: "invalid_request",
    when: "A member is missing or malformed, or a pattern isn't RE2; the thing has no such field, or no value of the field can satisfy the condition; no trait has a command of that name, or it has no such parameter.",
  },
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

const commandMembers = {
  trait: text("The trait."),
  command: text("The command of the trait; not `adjustTarget`, `adjust` or `adjustPercent`."),
  params: map("The parameters by name, as the trait catalogue describes them.", {
    type: ["string", "number", "boolean"],
  }),
};
const alertCommand = object(
  "A command to one thing, or to all things of a kind.",
  { trait: commandMembers.trait, command: commandMembers.command },
  {
    params: commandMembers.params,
    thingId: text("The thing; left out with `kind`."),
    kind: text("All things of this kind that the user has when the alert fires; left out with `thingId`.", {
      enum: [...thingKinds],
    }),
    room: text("With `kind`: only the things in this room."),
  },
);
/** A command to one thing, as a dry run names it. */
export const thingOrder = object("A command to one thing.", { thingId: text("The thing."), ...commandMembers });

export const requiredFields = { operation: text("How to compare.", { enum: operations }) };
const watchedFields = {
  deviceId: integer("The device to watch, with `attrName`; left out for an alert on a thing.", { minimum: 1 }),
  attrName: text("The attribute to watch."),
  thingId: text("The thing to watch, with `field`; left out for an alert on an attribute."),
  field: text("The field to watch: a trait of the thing and one of its fields, such as `smoke.state`."),
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

export const optionalFields = {
  ...watchedFields,
  action: text(
    "`attribute` writes to the targets; any other word is only sent as an event. May be left out with `commands` and without `targets`: then it is `command`.",
  ),
  ...thresholdFields,
  ...words,
  ...switches,
  targets: list(
    "What `attribute` writes.",
    target({ type: ["string", "number", "boolean", "null"], description: "The value; null erases." }),
    { maxItems: 100 },
  ),
  commands: list(
    "What each firing commands, whatever the action is. Targets and commands together are at most 100.",
    alertCommand,
    { maxItems: 100 },
  ),
};

export const alert: Schema = named(
  "Alert",
  object(
    "An alert: its definition and its state.",
    {
      alertId: integer("Its id.", { minimum: 1 }),
      deviceId: integer("The device that it watches, or that reports the thing that it watches.", { minimum: 1 }),
      ...requiredFields,
      action: text("`attribute` writes to the targets; any other word is only sent as an event."),
      targets: list("What it writes.", target(orNull(text("The value; null erases.")))),
      ...words,
      ...switches,
      disarmed: boolean("Whether it has fired and its condition has not been false since."),
      disabledReason: orNull(text("Why the service disabled it; null when a client did, or when it is enabled.")),
      createdTime: milliseconds("When it was created."),
      firedTime: orNull(milliseconds("When it fired last.")),
      firings: integer("How often it has fired.", { minimum: 0 }),
    },
    {
      attrName: text("The attribute that it watches; missing for an alert on a thing."),
      thingId: text("The thing that it watches; missing for an alert on an attribute."),
      field: text("The field that it watches; missing for an alert on an attribute."),
      ...thresholdFields,
      commands: list("What it commands; missing when it commands nothing.", alertCommand),
    },
  ),
);

export const sampleDefinition = {
  deviceId: 41,
  attrName: "d.structures[1].a.away",
  operation: "regex",
  stringThreshold: "away|auto-away",
  action: "attribute",
  targets: [{ deviceId: 40, attrName: "power", value: "off" }],
  autoDisarm: true,
};
export const sample = {
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

export const json = (schema: Schema, example: unknown): ContentDescription => ({
  contentType: "application/json",
  schema,
  example,
});
export const body = json(
  named("AlertDefinition", object("The definition of an alert.", requiredFields, optionalFields)),
  sampleDefinition,
);

export const tooLarge: ErrorDescription = {
  status: 409,
  code: "limit_reached",
  when: "The alert takes more than 16 KB, or all alerts of the user would take more than 8 MB.",
};
