import { defaultExample } from "../../../ecosystems/registry.ts";
import { boolean, integer, list, number, object, orNull, text } from "../../../model/json-schema.ts";
import type { AdminCall } from "../../../operators/admin-call.ts";
import { exampleTime, ofTenant, time, timeOrNull } from "./fields.ts";

const hours = (description: string) =>
  list(`${description} In each of the last 24 hours, the present one last.`, integer("How many."));
const finding = object("Something that needs an operator.", {
  kind: text("`alarm`, `link_stale`, `webhook_failing`, `disk` and others; `unknown_…` for what could not be read."),
  level: text("How bad it is.", { enum: ["bad", "warn"] }),
  count: orNull(integer("How many it concerns.")),
  id: orNull(text("The thing, webhook or outlet that it is about.")),
  sentence: text("What is wrong."),
  fix: text("What to do about it."),
});
const zeros = new Array<number>(24).fill(0);

/** A value, or why it could not be read. */
const known = (description: string, value: ReturnType<typeof object> | ReturnType<typeof list>) =>
  object(description, {}, { value, problem: text("Why it is not known.") });

const node = object("A node.", {
  node: text("Its id."),
  nodeName: text("Its host and port."),
  isThis: boolean("It has answered this call."),
  silentMs: orNull(number("The time since its last heartbeat; null on SQLite, which has one node.")),
  links: integer("Links that it follows."),
  schemaVersion: orNull(integer("The schema that it knows.")),
});

export const overviewCalls: readonly AdminCall[] = [
  {
    act: "ecosystem list",
    method: "GET",
    path: "/ecosystems",
    need: "read",
    subject: "tenants",
    summary: "List the ecosystems whose accounts users can link",
    answer: object("The ecosystems.", {
      ecosystems: list(
        "As configured.",
        object("An ecosystem.", {
          ecosystem: text("Its configured name."),
          name: text("The name that users read."),
          hasLinkPage: boolean("Users can connect an account on a page of this service."),
        }),
      ),
    }),
    example: { ecosystems: [{ ecosystem: defaultExample.name, name: defaultExample.name, hasLinkPage: true }] },
  },
  {
    act: "attention",
    method: "GET",
    path: "/attention",
    need: "read",
    subject: "tenants",
    summary: "Show what needs attention, each with what to do",
    words: ["Findings about the service itself are left out for an operator who does not reach all of it."],
    fields: [ofTenant],
    answer: object("What needs attention.", {
      findings: list("The findings.", finding),
      coversService: boolean("The service itself was examined too."),
    }),
    example: {
      findings: [
        {
          kind: "link_needs_reauth",
          level: "bad",
          count: 2,
          id: null,
          sentence: "2 links need a new consent.",
          fix: "Send the user a link page.",
        },
      ],
      coversService: true,
    },
  },
  {
    act: "activity",
    method: "GET",
    path: "/activity",
    need: "read",
    subject: "tenants",
    summary: "Show sign-ins, deliveries, changes, blind time and states of links of the last 24 hours",
    words: ["Changes are counted in the memory of each node, and only for those who reach all tenants."],
    fields: [ofTenant],
    answer: object(
      "The figures.",
      {
        since: time("The beginning of the first hour."),
        signIns: hours("Sign-ins of users."),
        failedSignIns: hours("Sign-ins that failed."),
        delivered: hours("Messages that webhooks took."),
        failed: hours("Attempts to deliver a message that failed; of each message the newest 10 attempts count."),
        blind: object("The time in which homes were not seen.", {
          ms: integer("Of all these links together, in milliseconds."),
          blindLinks: integer("Links that were blind for a while."),
          links: integer("Links that were counted, 1,000 at most."),
          isAll: boolean("These are all links."),
          hours: object("In each hour, the milliseconds of these links, added up.", {
            seenMs: hours("Homes were seen."),
            blindMs: hours("Homes were not seen."),
            unknownMs: hours("It is not known whether homes were seen."),
          }),
        }),
        linkStates: object("How many links were in each state. They are counted once in each hour.", {
          isCounted: list(
            "In each of the last 24 hours, the present one last.",
            boolean("Links were counted in this hour. If not, their states are unknown."),
          ),
          states: list(
            "The states that occurred.",
            object("A state.", {
              state: text("`live`, `waiting`, `stale`, `needs_reauth` and others."),
              hours: list(
                "In each of the last 24 hours, the present one last.",
                orNull(integer("How many links; null in an hour in which they were not counted.")),
              ),
            }),
          ),
        }),
      },
      {
        changes: hours("Changes of attributes."),
        countedSince: time("Changes before this time are not counted in full."),
        silentNodes: list("Nodes that did not answer.", text("A node.")),
      },
    ),
    example: {
      since: exampleTime,
      signIns: zeros,
      failedSignIns: zeros,
      delivered: zeros,
      failed: zeros,
      blind: {
        ms: 0,
        blindLinks: 0,
        links: 12,
        isAll: true,
        hours: { seenMs: new Array<number>(24).fill(43_200_000), blindMs: zeros, unknownMs: zeros },
      },
      linkStates: {
        isCounted: [false, ...new Array<boolean>(23).fill(true)],
        states: [{ state: "live", hours: [null, ...new Array<number>(23).fill(12)] }],
      },
    },
  },
  {
    act: "system",
    method: "GET",
    path: "/system",
    need: "read",
    subject: "deployment",
    summary: "Show nodes, store, disk, certificate, last backup and settings; secrets are masked",
    answer: object("The service. A part that could not be read has a problem in place of a value.", {
      version: text("The version of this node."),
      nodes: known("The nodes.", list("By id.", node)),
      store: known(
        "The store.",
        object("The store.", {
          kind: text("The database.", { enum: ["sqlite", "postgres"] }),
          schemaVersion: integer("The step of the schema that this node knows."),
          bytes: orNull(integer("The size of the file; null on PostgreSQL.")),
          waiting: integer("Transactions that wait."),
          lastSyncMs: number("How long the last commit took to become durable."),
        }),
      ),
      disk: known(
        "The disk of the data folder.",
        object("The disk.", { freeBytes: integer("Free bytes."), totalBytes: integer("All bytes.") }),
      ),
      certificate: known(
        "The certificate.",
        object("The certificate.", { ends: timeOrNull("When it ends; null without one of its own.") }),
      ),
      backup: known("The last backup.", object("The backup.", { time: timeOrNull("When it was taken.") })),
      settings: list(
        "The settings with which this node was started; empty when a program has started it without telling them.",
        object("A setting.", {
          variable: text("Its name."),
          value: text("Its value; secrets are masked."),
          from: text("Where it comes from."),
        }),
      ),
    }),
    example: {
      version: "1.2.3",
      nodes: {
        value: [{ node: "n1", nodeName: "host-1:8080", isThis: true, silentMs: null, links: 3, schemaVersion: 43 }],
      },
      store: { value: { kind: "sqlite", schemaVersion: 43, bytes: 4_096_000, waiting: 0, lastSyncMs: 1.5 } },
      disk: { value: { freeBytes: 50_000_000_000, totalBytes: 100_000_000_000 } },
      certificate: { value: { ends: null } },
      backup: { value: { time: exampleTime } },
      settings: [{ variable: "BREEZEWAY_PORT", value: "8443", from: "environment" }],
    },
  },
];
