import { boolean, integer, list, map, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, ofTenant, time } from "./fields.ts";

const auditEntry = object("An entry.", {
  id: integer("Its place in the log."),
  time: time("When it happened."),
  act: text("What was done: `sign_in`, `grant`, `admin` and others."),
  tenantId: orNull(integer("The tenant.")),
  userId: orNull(integer("The user.")),
  clientId: orNull(text("The client.")),
  source: text("The address of the caller; `command` for a command on the machine."),
  operator: orNull(text("The operator's name; `local` for a command on the machine.")),
  detail: map("A few plain facts.", { type: ["string", "number", "boolean", "array"], items: { type: "string" } }),
});

export const serviceCalls: readonly AdminCall[] = [
  {
    act: "status",
    method: "GET",
    path: "/status",
    need: "read",
    subject: "deployment",
    summary: "Show whether the service runs, and the states of its links",
    answer: object(
      "The service.",
      {
        running: boolean("A node runs."),
        tenants: integer("How many tenants there are."),
        links: map("Links by state.", integer("How many.")),
      },
      { baseUrl: text("The address for clients."), notFollowedSince: integer("Milliseconds since 1970.") },
    ),
    example: { running: true, baseUrl: "https://breezeway.example", tenants: 2, links: { live: 3 } },
  },
  {
    act: "audit list",
    method: "GET",
    path: "/audit",
    need: "read",
    subject: "tenants",
    isPaged: true,
    summary: "List entries of the audit log, newest first",
    fields: [
      ofTenant,
      { option: "act", kind: "text", meaning: "Only this act." },
      { option: "operator", kind: "text", meaning: "Only acts of this operator, by name." },
      { option: "user", kind: "text", meaning: "Only acts of this user, by id." },
      { option: "client", kind: "text", meaning: "Only acts of this client, by its whole id." },
    ],
    answer: object("One page of entries.", { entries: list("Newest first.", auditEntry) }, cursor),
    example: {
      entries: [
        {
          id: 17,
          time: exampleTime,
          act: "admin",
          tenantId: 42,
          userId: 3,
          clientId: null,
          source: "192.0.2.1",
          operator: "ada",
          detail: { command: "user add" },
        },
      ],
    },
  },
];
