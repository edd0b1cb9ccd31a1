import { boolean, integer, list, map, object, orNull, type Schema, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { exampleTime, ofTenant, time, timeOrNull } from "./fields.ts";

const traitMap: Schema = { type: "object", description: "A trait map.", additionalProperties: {} };
const deviceType = { name: text("The type's name."), map: traitMap, changedMs: integer("Milliseconds since 1970.") };
const exampleType = { name: "Lamp", map: { kind: "light", traits: {} }, changedMs: 1_772_357_400_000 };
const tenant: AdminField = { ...ofTenant, meaning: "The name or id of the tenant.", isRequired: true, example: "Acme" };
const typePath = "/device-types/:type";
const deviceId = integer("The device's id.");

const outlet = {
  outlet: text("Its id."),
  kind: text("The assistant."),
  tenant: text("The tenant's name."),
  client_id: text("Its OAuth client."),
  created: time("When it was added."),
};
const exampleOutlet = { outlet: "bwo_…", kind: "alexa", tenant: "Acme", client_id: "bwc_…", created: exampleTime };
const health = {
  lastDirective: orNull(
    object("The last message from the assistant's maker; null when no node remembers one.", {
      time: time("When it came."),
      name: text("The message's name in the maker's interface."),
      error: orNull(text("The error code of the answer; null when it held none.")),
    }),
  ),
  directivesSince: timeOrNull("Each node remembers messages since this time; null when some node has not answered."),
  reportLagMs: integer("How long the oldest waiting report has waited; 0 when none waits."),
  errors: list(
    "The errors among the last 100 reports, the most frequent first.",
    object("An error.", {
      code: text("The maker's code; without one the HTTP status, or what happened."),
      count: integer("How many reports."),
    }),
  ),
};
const exampleHealth = {
  lastDirective: { time: exampleTime, name: "Alexa.PowerController TurnOn", error: null },
  directivesSince: exampleTime,
  reportLagMs: 0,
  errors: [{ code: "INVALID_ACCESS_TOKEN_EXCEPTION", count: 2 }],
};
const setUp = list(
  "What to enter in the console of the assistant's maker.",
  object("An entry.", { page: text("The page."), field: text("The field."), value: text("The value.") }),
);
const exampleSetUp = [{ page: "Account linking", field: "Client id", value: "bwc_…" }];
const outletPath = "/outlets/:outlet";
const ofTenants = { subject: "tenants" } as const;

export const thingCalls: readonly AdminCall[] = [
  {
    act: "device add",
    method: "POST",
    path: "/devices",
    need: "change",
    ...ofTenants,
    summary: "Add an ordinary device of a user",
    fields: [
      { option: "user", kind: "number", meaning: "The user's id.", isRequired: true, example: 3 },
      { option: "name", kind: "text", meaning: "Its name.", isRequired: true, example: "Hall lamp" },
      { option: "type", kind: "text", meaning: "Its type.", isRequired: true, example: "Lamp" },
    ],
    answer: object("The new device.", { deviceId }),
    example: { deviceId: 7 },
  },
  {
    act: "device remove",
    method: "DELETE",
    path: "/devices/:device",
    need: "change",
    ...ofTenants,
    asksPassword: true,
    summary: "Remove an ordinary device with attributes and history",
    answer: object("The device.", { deviceId }),
    example: { deviceId: 7 },
  },
  {
    act: "device-type list",
    method: "GET",
    path: "/device-types",
    need: "read",
    ...ofTenants,
    summary: "List the trait maps of a tenant",
    fields: [tenant],
    answer: object("The trait maps.", { deviceTypes: list("By name.", object("A type.", deviceType)) }),
    example: { deviceTypes: [exampleType] },
  },
  {
    act: "device-type templates",
    method: "GET",
    path: "/device-types/templates",
    need: "read",
    ...ofTenants,
    summary: "Show the ready-made trait maps",
    answer: object("The templates.", { templates: map("By name.", traitMap) }),
    example: { templates: { lamp: { kind: "light", traits: {} } } },
  },
  {
    act: "device-type show",
    method: "GET",
    path: typePath,
    need: "read",
    ...ofTenants,
    summary: "Show the trait map of a device type",
    fields: [tenant],
    absentCode: "unknown_device_type",
    answer: object("The trait map.", deviceType),
    example: exampleType,
  },
  {
    act: "device-type set",
    method: "PUT",
    path: typePath,
    need: "change",
    ...ofTenants,
    summary: "Set the trait map of a device type",
    fields: [
      tenant,
      { option: "template", kind: "text", meaning: "A ready-made map.", example: "lamp" },
      { option: "file", kind: "text", meaning: "The trait map as JSON text, instead of a template." },
    ],
    absentCode: null,
    answer: object("The trait map.", { tenantId: integer("The tenant."), ...deviceType }),
    example: { tenantId: 42, ...exampleType },
  },
  {
    act: "device-type remove",
    method: "DELETE",
    path: typePath,
    need: "change",
    ...ofTenants,
    asksPassword: true,
    summary: "Remove the trait map of a device type; its devices stay",
    fields: [tenant],
    absentCode: "unknown_device_type",
    answer: object("The type.", { tenantId: integer("The tenant."), name: text("Its name.") }),
    example: { tenantId: 42, name: "Lamp" },
  },
  {
    act: "outlet list",
    method: "GET",
    path: "/outlets",
    need: "read",
    ...ofTenants,
    summary: "List the connections to voice assistants",
    fields: [ofTenant],
    answer: object("The outlets.", {
      outlets: list("Outlets.", object("An outlet.", { ...outlet, users: integer("Users who linked it."), ...health })),
    }),
    example: { outlets: [{ ...exampleOutlet, users: 3, ...exampleHealth }] },
  },
  {
    act: "outlet add",
    method: "POST",
    path: "/outlets",
    need: "secret",
    ...ofTenants,
    asksPassword: true,
    summary: "Connect a tenant's users to a voice assistant",
    words: ["The answer holds the secret of the outlet's client, which is shown only once."],
    fields: [
      {
        option: "kind",
        kind: "text",
        meaning: "The assistant: `google-home` or `alexa`.",
        isRequired: true,
        isArgument: true,
        example: "alexa",
      },
      tenant,
      { option: "name", kind: "text", meaning: "The name that users read." },
      {
        option: "settings",
        kind: "object",
        meaning: "The settings of the kind, by the names of the command's options.",
      },
    ],
    answer: object("The outlet.", {
      outlet: outlet.outlet,
      kind: outlet.kind,
      client_id: outlet.client_id,
      client_secret: text("The secret, which is shown only now."),
      setUp,
    }),
    example: { outlet: "bwo_…", kind: "alexa", client_id: "bwc_…", client_secret: "bwcs_…", setUp: exampleSetUp },
  },
  {
    act: "outlet show",
    method: "GET",
    path: outletPath,
    need: "read",
    ...ofTenants,
    summary: "Show an outlet with its users",
    answer: object("The outlet.", {
      ...outlet,
      settings: map("Its settings, without secrets.", {}),
      setUp,
      linked: integer("How many users linked it."),
      ...health,
      users: list(
        "Some of them.",
        object("A user.", {
          userId: integer("The user."),
          since: time("Since when."),
          reported: timeOrNull("The last report."),
          waits: boolean("A report waits."),
          problem: orNull(text("What went wrong.")),
          omitted: object("Devices that the assistant is not offered, because it takes no more.", {
            count: integer("How many."),
            devices: list(
              "The first of them.",
              object("A device.", {
                id: text("Its id at the assistant."),
                thingId: text("The thing."),
                name: text("Its name."),
              }),
            ),
          }),
        }),
      ),
    }),
    example: { ...exampleOutlet, settings: {}, setUp: exampleSetUp, linked: 0, ...exampleHealth, users: [] },
  },
  {
    act: "outlet deliveries",
    method: "GET",
    path: `${outletPath}/deliveries`,
    need: "read",
    ...ofTenants,
    summary: "List the last reports of an outlet",
    fields: [{ option: "user", kind: "text", meaning: "Only those of this user." }],
    answer: object("The reports.", {
      deliveries: list(
        "Newest first.",
        object("A report.", {
          userId: integer("The user."),
          time: time("When."),
          type: text("The message."),
          things: integer("How many things."),
          thingIds: list("Some of them.", text("A thing.")),
          outcome: text("`taken`, `retry`, `refused`, or `forgotten`: the grant was forgotten."),
          status: orNull(integer("The HTTP status.")),
          text: orNull(text("The answer.")),
        }),
      ),
    }),
    example: { deliveries: [] },
  },
  {
    act: "outlet resend",
    method: "POST",
    path: `${outletPath}/resend`,
    need: "change",
    ...ofTenants,
    summary: "Report all things of a user again",
    fields: [{ option: "user", kind: "number", meaning: "The user's id.", isRequired: true, example: 3 }],
    answer: object("What happens.", {
      outlet: outlet.outlet,
      userId: integer("The user."),
      isLinked: boolean("False: the user has not linked the outlet, and nothing is sent."),
    }),
    example: { outlet: "bwo_…", userId: 3, isLinked: true },
  },
  {
    act: "outlet try",
    method: "POST",
    path: `${outletPath}/try`,
    need: "change",
    ...ofTenants,
    showsAnswer: true,
    summary: "Answer a message as if a user's assistant had sent it",
    words: ["The message has the rights that the user gave the assistant. Its commands are run."],
    fields: [
      {
        option: "user",
        kind: "number",
        meaning: "The user, who has linked the assistant.",
        isRequired: true,
        example: 3,
      },
      {
        option: "message",
        kind: "text",
        meaning: "The message of the assistant, as the text of a JSON object.",
        isRequired: true,
        example: '{"requestId":"1","inputs":[{"intent":"action.devices.SYNC"}]}',
      },
    ],
    answer: object("Both messages.", {
      outlet: outlet.outlet,
      userId: integer("The user."),
      message: { type: "object", description: "The message.", additionalProperties: {} },
      answer: { type: "object", description: "The answer.", additionalProperties: {} },
    }),
    example: {
      outlet: "bwo_…",
      userId: 3,
      message: { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] },
      answer: { requestId: "1", payload: { agentUserId: "…", devices: [] } },
    },
  },
  {
    act: "outlet check",
    method: "POST",
    path: `${outletPath}/check`,
    need: "change",
    ...ofTenants,
    showsAnswer: true,
    summary: "Check the settings of an outlet with the assistant's maker",
    answer: object("The facts.", {
      outlet: outlet.outlet,
      isRight: boolean("All facts are right."),
      facts: list(
        "Facts.",
        object("A fact.", {
          fact: text("What was checked."),
          isRight: boolean("Whether the check passed."),
          text: text("What was found."),
        }),
      ),
    }),
    example: { outlet: "bwo_…", isRight: true, facts: [{ fact: "client", isRight: true, text: "It exists." }] },
  },
  {
    act: "outlet remove",
    method: "DELETE",
    path: outletPath,
    need: "change",
    ...ofTenants,
    asksPassword: true,
    summary: "Remove an outlet with its client",
    answer: object("What ended.", {
      outlet: outlet.outlet,
      kind: outlet.kind,
      grants: integer("Grants of its client that ended."),
    }),
    example: { outlet: "bwo_…", kind: "alexa", grants: 3 },
  },
];
