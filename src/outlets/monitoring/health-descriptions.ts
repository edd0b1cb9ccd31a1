import type { Description } from "../../http/documentation/description.ts";
import { jsonAnswer } from "../../http/documentation/description-parts.ts";
import type { Schema } from "../../model/json-schema.ts";
import { boolean, integer, map, named, object, text } from "../../model/json-schema.ts";

export const checkLiveness: Description = {
  operationId: "checkLiveness",
  tag: "Service",
  summary: "Is the process alive?",
  words: ["Answers as long as the process runs, whatever else fails. For probes that restart a process that hangs."],
  answers: [
    jsonAnswer(
      200,
      "It runs.",
      object("It runs.", {
        status: text("Always `ok`.", { enum: ["ok"] }),
        version: text("The version of the service."),
        commit: text("The short hash of its commit, or `unknown`."),
        schema: integer("The schema version that it brings a store to."),
      }),
      { status: "ok", version: "1.2.3", commit: "0a1b2c3d", schema: 60 },
    ),
  ],
};

const readiness: Schema = named(
  "Readiness",
  object("Whether the service is ready, and if not, why.", {
    status: text("`draining`: the service is about to stop.", { enum: ["ok", "unavailable", "draining"] }),
    checks: map("Each check by its name.", {
      ...object(
        "One check, with some details.",
        { ok: boolean("Whether this part can do its work.") },
        { reason: text("Why not.") },
      ),
      additionalProperties: {},
    }),
  }),
);

export const checkReadiness: Description = {
  operationId: "checkReadiness",
  tag: "Service",
  summary: "Can it do its work?",
  words: ["Runs a few checks and names them. For load balancers, which send requests elsewhere while a check fails."],
  answers: [
    jsonAnswer(200, "It can do its work.", readiness, {
      status: "ok",
      checks: {
        store: { kind: "sqlite", waiting: 0, lastSyncMs: 0.4, ok: true },
        links: { followed: 12, ok: true },
      },
    }),
    jsonAnswer(503, "It can't, or it is about to stop.", readiness, {
      status: "unavailable",
      checks: {
        store: { ok: false, reason: "The check did not answer in time." },
        links: { followed: 12, ok: true },
      },
    }),
  ],
};
