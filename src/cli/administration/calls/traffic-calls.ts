import { boolean, integer, list, number, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { cursor, exampleTime, ofTenant, time } from "./fields.ts";

const nodes = list("Nodes that answered.", text("A node's id."));
const silentNodes = list("Nodes that did not answer in time: what they know is missing.", text("A node's id."));

const request = {
  time: time("When it ended."),
  requestId: text("Its id, which is in the header X-Request-Id, in errors and in the log."),
  method: text("Its method."),
  route: text("The pattern of its route."),
  operation: orNull(text("The platform operation.")),
  status: integer("The status of the answer."),
  code: orNull(text("The code of the error.")),
  tookMs: number("How many milliseconds it took."),
  bytes: integer("Bytes of the answer."),
  tenantId: orNull(integer("The tenant's id; null while the credentials were not checked.")),
  userId: orNull(integer("The user's id.")),
  clientId: orNull(text("The client's id.")),
  source: text("The client's address."),
  node: text("The id of the node that answered."),
  nodeName: text("That node's host and port."),
};
const exampleRequest = {
  time: exampleTime,
  requestId: "6f1b0c9e-7b1c-4f7e-9d5e-0a4c7d1e2f30",
  method: "GET",
  route: "/v3/devices/:deviceId",
  operation: null,
  status: 404,
  code: "unknown_device",
  tookMs: 1.4,
  bytes: 112,
  tenantId: 1,
  userId: null,
  clientId: "bwc_…",
  source: "192.0.2.1",
  node: "n1",
  nodeName: "host-1:8080",
};

const line = object("A line that the log has, redacted as the log is.", {
  time: time("When it was written."),
  level: text("Its level.", { enum: ["debug", "info", "warn", "error"] }),
  sentence: text("Its message."),
  fields: text("Its fields as JSON; cut after 2,000 characters."),
});
const exampleLine = {
  time: exampleTime,
  level: "warn",
  sentence: "request refused",
  fields: '{"status":404,"code":"unknown_device"}',
};

const kindOf = (meaning: string) =>
  object(meaning, { value: integer("The quota."), isDefault: boolean("It was not set.") });
const quotas = object(
  "The quotas and what is used. The live nodes divide a quota that was set; a default holds on each.",
  {
    tenantId: integer("The tenant's id."),
    client_id: orNull(text("The client's id; null for the quotas of a tenant.")),
    name: text("The name of the client or tenant."),
    quotas: object("The quotas.", {
      requestsPerMinute: kindOf("Requests in a minute."),
      openStreams: kindOf("Streams of events that are open at once."),
      commandsPerMinute: kindOf("Commands to things in a minute."),
    }),
    used: object("What is used.", {
      nodes: list(
        "On each node.",
        object("One node.", {
          node: text("Its id."),
          nodeName: text("Its host and port."),
          requestsPerMinute: integer("Requests."),
          openStreams: integer("Open streams."),
          commandsPerMinute: integer("Commands."),
        }),
      ),
      silentNodes,
    }),
  },
);
const exampleQuotas = {
  tenantId: 1,
  client_id: "bwc_…",
  name: "Voice",
  quotas: {
    requestsPerMinute: { value: 6_000, isDefault: false },
    openStreams: { value: 20_000, isDefault: true },
    commandsPerMinute: { value: 60_000, isDefault: true },
  },
  used: {
    nodes: [{ node: "n1", nodeName: "host-1:8080", requestsPerMinute: 12, openStreams: 1, commandsPerMinute: 0 }],
    silentNodes: [],
  },
};

const ofOwner: readonly AdminField[] = [
  { option: "tenant", kind: "text", meaning: "The name or id of the tenant; either this or the client." },
  { option: "client", kind: "text", meaning: "The id of the client.", example: "bwc_…" },
];
const quota = (option: string, meaning: string): AdminField => ({ option, kind: "number", meaning });

/** Requests, and how many of them clients and tenants may send. */
export const trafficCalls: readonly AdminCall[] = [
  {
    act: "request list",
    method: "GET",
    path: "/requests",
    need: "read",
    subject: "tenants",
    summary: "List the recent requests that all nodes remember, newest first",
    isPaged: true,
    fields: [
      ofTenant,
      { option: "client", kind: "text", meaning: "Only of this client." },
      { option: "user", kind: "text", meaning: "Only of this user." },
      { option: "route", kind: "text", meaning: "Only of this route, by its pattern." },
      { option: "status", kind: "text", meaning: "Only with this status, such as `404`, or class, such as `5xx`." },
      { option: "min-ms", kind: "text", meaning: "Only those that took at least so many milliseconds." },
      {
        option: "only",
        kind: "text",
        meaning: "Only requests of `clients` and users, or of `operators` and their console.",
      },
      { option: "limit", kind: "text", meaning: "The largest number of requests, without further pages." },
    ],
    answer: object(
      "One page of requests.",
      { requests: list("Newest first.", object("A request.", request)), nodes, silentNodes },
      cursor,
    ),
    example: { requests: [exampleRequest], nodes: ["n1"], silentNodes: [] },
  },
  {
    act: "request show",
    method: "GET",
    path: "/requests/:request",
    need: "read",
    subject: "tenants",
    summary: "Show one recent request by its id, with its log lines",
    fields: [ofTenant],
    answer: object("The request.", {
      ...request,
      lines: orNull(list("Its log lines, oldest first; null from a node of an older version.", line)),
    }),
    example: { ...exampleRequest, lines: [exampleLine] },
  },
  {
    act: "quota show",
    method: "GET",
    path: "/quotas",
    need: "read",
    subject: "tenants",
    summary: "Show the quotas of a client or a tenant, and how much each node counts as used",
    fields: ofOwner,
    answer: quotas,
    example: exampleQuotas,
  },
  {
    act: "quota set",
    method: "PUT",
    path: "/quotas",
    need: "change",
    subject: "deployment",
    summary: "Set quotas of a client or a tenant; members that are left out keep their values",
    fields: [
      ...ofOwner,
      quota("requests-per-minute", "Requests in a minute on one node."),
      quota("open-streams", "Streams of events that are open at once on one node."),
      quota("commands-per-minute", "Commands to things in a minute on one node."),
    ],
    answer: quotas,
    example: exampleQuotas,
  },
  {
    act: "quota reset",
    method: "DELETE",
    path: "/quotas",
    need: "change",
    subject: "deployment",
    summary: "Give a client or a tenant the default quotas again",
    fields: ofOwner,
    answer: quotas,
    example: exampleQuotas,
  },
];
