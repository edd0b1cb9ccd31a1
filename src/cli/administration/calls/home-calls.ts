import { defaultExample } from "../../../ecosystems/registry.ts";
import { boolean, integer, list, map, object, orNull, type Schema, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, ofTenant, time } from "./fields.ts";
import { exampleLink, shownLink } from "./link-calls.ts";

const exampleThingId = "t_Zk3xV0bqT2m8cQx1r5sYwA";

const anyValue: Schema = { type: ["string", "number", "boolean", "null"], description: "A value." };
const capability: Schema = { ...anyValue, type: ["string", "number", "boolean", "array", "null"], items: text("One.") };
const field = object("A field.", { value: anyValue, updateTime: integer("When it changed. Milliseconds since 1970.") });
const trait = object("A trait.", {
  capabilities: map("What it can do.", capability),
  state: map("Its fields by name.", field),
});
const userName = text("The user's name.");
const ofThing = {
  userId: integer("Its user."),
  thingId: text("Its id."),
  deviceId: integer("The device that it belongs to."),
  kind: text("`thermostat`, `alarm`, `light` and others."),
  name: orNull(text("Its name.")),
  room: orNull(text("Its room.")),
  homeName: orNull(text("The home that it belongs to.")),
  maker: orNull(text("Its maker.")),
  model: orNull(text("Its model.")),
  source: text("The ecosystem, or `own`."),
  goneTime: orNull(integer("When the ecosystem said that it is gone. Milliseconds since 1970.")),
  stale: boolean("The values may be out of date."),
  confirmedTime: orNull(integer("When the ecosystem last confirmed the state. Milliseconds since 1970.")),
  traits: map("Its traits by name, as in `GET /v3/things/{thingId}`.", trait),
};
const thing = object("A thing.", ofThing);
const exampleThing = {
  userId: 3,
  thingId: exampleThingId,
  deviceId: 8,
  kind: "thermostat",
  name: "Hall",
  room: "Hall",
  homeName: "Maple Street",
  maker: null,
  model: null,
  source: defaultExample.name,
  goneTime: null,
  stale: false,
  confirmedTime: 1_772_357_400_000,
  traits: { temperature: { capabilities: {}, state: { celsius: { value: 21.5, updateTime: 1_772_357_400_000 } } } },
};

const ofAlarm = {
  userId: ofThing.userId,
  userName,
  thingId: ofThing.thingId,
  deviceId: ofThing.deviceId,
  source: ofThing.source,
  name: ofThing.name,
  room: ofThing.room,
  homeName: ofThing.homeName,
  level: text("`alarm` is an emergency.", { enum: ["alarm", "warning"] }),
  sensors: list("The sensors that report it.", text("A trait.", { enum: ["smoke", "carbonMonoxide"] })),
  sinceTime: integer("When the first of them reported it. Milliseconds since 1970."),
  stale: ofThing.stale,
  confirmedTime: ofThing.confirmedTime,
};
const exampleAlarm = {
  userId: 3,
  userName: "ada",
  thingId: exampleThingId,
  deviceId: 8,
  source: defaultExample.name,
  name: "Hallway",
  room: "Hallway",
  homeName: "Maple Street",
  level: "alarm",
  sensors: ["smoke"],
  sinceTime: 1_772_357_400_000,
  stale: false,
  confirmedTime: 1_772_357_400_000,
};

const owned = { userId: integer("Its user."), userName };
const foundThing = object("A thing.", {
  thingId: text("Its id."),
  deviceId: integer("The device that it belongs to."),
  name: orNull(text("Its name.")),
  kind: text("`thermostat`, `alarm`, `light` and others."),
  room: orNull(text("Its room.")),
  ...owned,
});
const foundDevice = object("A device.", {
  deviceId: integer("Its id."),
  name: text("Its name."),
  typeName: text("Its type."),
  ...owned,
});
const foundAlert = object("An alert.", { alertId: integer("Its id."), ...owned });

const receipt = {
  commandId: text("Its id."),
  thingId: text("The thing."),
  trait: text("The trait."),
  command: text("The command."),
  params: map("Its parameters.", anyValue),
  alertId: orNull(integer("The alert that sent it; null for a client or an operator.")),
  state: text("`queued`, `sending`, `accepted`, `confirmed`, `rejected`, `contradicted`, `expired`, `replaced`."),
  error: orNull(object("Why it was not carried out.", { code: text("The code."), text: text("A sentence.") })),
  requestedTime: integer("When it was requested. Milliseconds since 1970."),
};
const exampleReceipt = {
  commandId: "c12",
  thingId: exampleThingId,
  trait: "fanTimer",
  command: "start",
  params: { minutes: 15 },
  alertId: null,
  state: "queued",
  error: null,
  requestedTime: 1_772_357_400_000,
};

const renew: AdminField = { option: "renew", kind: "flag", meaning: "Renews an existing link." };
const param: AdminField = {
  option: "param",
  kind: "texts",
  meaning: "The parameters of the command, each as `name=value`.",
  example: ["minutes=15"],
};

export const homeCalls: readonly AdminCall[] = [
  {
    act: "home show",
    method: "GET",
    path: "/users/:user/links/:ecosystem",
    need: "read",
    subject: "tenants",
    summary: "See a home: its link, its things and the newest commands",
    answer: object("The home.", {
      userId: integer("The user."),
      userName: text("The user's name."),
      link: object("The link.", shownLink),
      blindIntervals: list(
        "Oldest first.",
        object("A time in which changes of the home were not seen.", {
          from: integer("Its beginning. Milliseconds since 1970."),
          to: orNull(integer("Its end; null for one that has not ended.")),
          cause: text("The reason."),
        }),
      ),
      things: list("Its things, without those that are gone.", thing),
      commands: list("The 20 newest commands, newest first.", object("A receipt.", receipt)),
    }),
    example: {
      userId: 3,
      userName: "ada",
      link: exampleLink,
      blindIntervals: [{ from: 1_772_350_000_000, to: 1_772_350_060_000, cause: "no stream" }],
      things: [exampleThing],
      commands: [exampleReceipt],
    },
  },
  {
    act: "home things",
    method: "GET",
    path: "/things",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List the things of a user, or of all users",
    words: [
      "Of all users, one page examines 800 things at most: with a filter it may have few things or none, and still a cursor to go on with.",
    ],
    fields: [
      ofTenant,
      { option: "user", kind: "text", meaning: "Only of this user; of these at most 1,000 are listed." },
      { option: "kind", kind: "text", meaning: "Only of this kind." },
      { option: "filter", kind: "text", meaning: "Only those whose name, room or home contains this text." },
      { option: "state", kind: "text", meaning: "Only those that show this: `smoke.state=alarm`, `onOff.on=true`." },
      { option: "stale", kind: "flag", meaning: "Only those whose values may be out of date." },
    ],
    answer: object(
      "One page of things.",
      { things: list("By tenant, device and thing.", object("A thing.", { ...ofThing, userName })) },
      cursor,
    ),
    example: { things: [{ ...exampleThing, userName: "ada" }] },
  },
  {
    act: "home alarms",
    method: "GET",
    path: "/alarms",
    need: "read",
    subject: "tenants",
    summary: "List the smoke and CO alarms that sound",
    words: [
      "Things of linked homes and of own devices whose smoke or CO sensor reports a warning or an emergency. A stale one is listed too: it is shown as of its last confirmation. At most 100.",
    ],
    fields: [ofTenant],
    answer: object("The alarms.", {
      alarms: list("Emergencies first, then by time, the newest first.", object("An alarm.", ofAlarm)),
      isComplete: boolean("False: more alarms sound than are listed."),
    }),
    example: { alarms: [exampleAlarm], isComplete: true },
  },
  {
    act: "home find",
    method: "GET",
    path: "/found",
    need: "read",
    subject: "tenants",
    summary: "Find things, devices and alerts by id, and things and own devices by a part of their name",
    words: [
      "At most 10 of each kind; `hasMore` says that more have this name. Names are compared whatever the case, of things their first 200 characters. One search compares 250,000 names; `areAllCompared` is false when there are more.",
    ],
    fields: [
      { option: "text", kind: "text", meaning: "An id, or a part of a name.", isRequired: true, isArgument: true },
      ofTenant,
    ],
    answer: object("What was found.", {
      things: list("Things.", foundThing),
      devices: list("Devices.", foundDevice),
      alerts: list("Alerts.", foundAlert),
      hasMore: boolean("More things or devices have this name than are listed."),
      areAllCompared: boolean("False: there are more names than one search compares, and the rest was not compared."),
    }),
    example: {
      things: [],
      devices: [{ deviceId: 8, name: "Lamp", typeName: "Lamp", userId: 3, userName: "ada" }],
      alerts: [],
      hasMore: false,
      areAllCompared: true,
    },
  },
  {
    act: "home command",
    method: "POST",
    path: "/users/:user/things/:thing/commands",
    need: "change",
    subject: "tenants",
    summary: "Send a command to a thing",
    fields: [
      { option: "trait", kind: "text", meaning: "The trait.", isRequired: true, example: "fanTimer" },
      { option: "command", kind: "text", meaning: "The command.", isRequired: true, example: "start" },
      param,
    ],
    answer: object("The receipt, also of a refused command.", receipt),
    example: exampleReceipt,
  },
  {
    act: "home page",
    method: "POST",
    path: "/users/:user/links/:ecosystem/page",
    need: "secret",
    subject: "tenants",
    summary: "Make a page on which the account's owner connects it",
    fields: [renew],
    answer: object("The page.", { url: text("Its address, for one use."), expires: time("Until when.") }),
    example: { url: "https://breezeway.example/link/s/…", expires: exampleTime },
  },
  {
    act: "home unlink",
    method: "DELETE",
    path: "/users/:user/links/:ecosystem",
    need: "change",
    subject: "tenants",
    asksPassword: true,
    summary: "Disconnect an account",
    words: ["Removes the virtual device with its alerts and history, and revokes the token at the ecosystem."],
    answer: object("What was done.", {
      tokenRevoked: boolean("Whether the ecosystem has confirmed that the token is revoked."),
    }),
    example: { tokenRevoked: true },
  },
];
