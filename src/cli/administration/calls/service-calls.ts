import { boolean, integer, list, map, number, object, orNull, text } from "../../../model/json-schema.ts";
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

const verification = {
  verificationId: text("Its id."),
  url: text("The address that was verified."),
  by: text("The operator who started it; `local` for a command on the machine."),
  startedTime: time("When it began."),
  state: text("How far it is.", { enum: ["running", "ended", "failed"] }),
  grade: orNull(text("From A, all rows passed, to F, a row of the published interface failed.")),
  verdict: orNull(text("The grade explained.")),
  counts: orNull(map("Rows by status.", integer("How many."))),
  seconds: orNull(number("How long it took.")),
  version: orNull(text("The version that verified.")),
  problem: orNull(text("Why there is no report.")),
};
const verificationRow = object("A promise of the interface, and whether the deployment keeps it.", {
  name: text("Its short name."),
  group: text("Its group."),
  title: text("What is checked."),
  proves: text("What you know when it has passed."),
  essential: boolean("The published interface requires it."),
  status: text("How it ended.", { enum: ["pass", "warn", "fail", "not_run"] }),
  seen: text("What was seen, or why it was not run."),
  atFault: orNull(text("Which side has to be repaired.")),
  next: orNull(text("What to do.")),
  milliseconds: number("How long it took."),
});
const check = object(
  "A check.",
  {
    check: text("What was checked."),
    state: text("How it ended.", { enum: ["ok", "warn", "fail"] }),
    words: text("What was seen."),
  },
  { next: text("What to do.") },
);
const exampleVerification = {
  verificationId: "5f0c2d9a11be",
  url: "https://breezeway.example",
  by: "ada",
  startedTime: exampleTime,
  state: "ended",
  grade: "A",
  verdict: "All 34 rows passed.",
  counts: { pass: 34, warn: 0, fail: 0, not_run: 0 },
  seconds: 6.2,
  version: "1.2.3",
  problem: null,
};

export const serviceCalls: readonly AdminCall[] = [
  {
    act: "self-check",
    method: "POST",
    path: "/self-check",
    need: "change",
    subject: "deployment",
    summary: "Let the service check itself and its machine",
    words: [
      "The node that answers makes the checks. It calls the configured addresses, and changes nothing but the audit log.",
    ],
    showsAnswer: true,
    answer: object("The checks.", {
      ok: boolean("None has failed."),
      node: text("The id of the node that has made them."),
      nodeName: text("That node's host and port."),
      checks: list("In the order of `breezeway doctor`.", check),
    }),
    example: {
      ok: true,
      node: "n1",
      nodeName: "host-1:8080",
      checks: [{ check: "disk", state: "ok", words: "40.2 GB free" }],
    },
  },
  {
    act: "verification list",
    method: "GET",
    path: "/verifications",
    need: "read",
    subject: "deployment",
    summary: "List the last ten verifications of this deployment",
    answer: object("The verifications.", {
      verifications: list("Newest first.", object("A verification.", verification)),
    }),
    example: { verifications: [exampleVerification] },
  },
  {
    act: "verification start",
    method: "POST",
    path: "/verifications",
    need: "change",
    subject: "deployment",
    summary: "Let the service verify itself in the background",
    words: [
      "The service calls itself at its public address, as a client, a browser and an SDK would, with a temporary tenant that it removes afterwards.",
      "409 while another verification is under way.",
    ],
    answer: object("The verification.", verification),
    example: {
      ...exampleVerification,
      ...{ state: "running", grade: null, verdict: null, counts: null, seconds: null, version: null },
    },
  },
  {
    act: "verification show",
    method: "GET",
    path: "/verifications/:verification",
    need: "read",
    subject: "deployment",
    summary: "Show the report of a verification",
    answer: object("The verification.", { ...verification, rows: list("The rows of its report.", verificationRow) }),
    example: {
      ...exampleVerification,
      rows: [
        {
          name: "alive",
          group: "The service itself",
          title: "The service answers",
          proves: "The address is right, and a service runs there.",
          essential: true,
          status: "pass",
          seen: "200 from /livez.",
          atFault: null,
          next: null,
          milliseconds: 4,
        },
      ],
    },
  },
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
    words: [
      "One call examines 10,000 entries at most. With a filter, a page may have few entries or none and yet a `cursor`: the next page goes on where it ended.",
    ],
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
