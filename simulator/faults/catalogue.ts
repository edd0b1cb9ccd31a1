import type { JsonObject } from "../home/json.ts";
import { badArgument, Refusal } from "../refusal.ts";
import { malformedKinds } from "../streams/malformed-frames.ts";
import { readBoolean, readChoice, readHost, readText, readWhole } from "./arguments.ts";
import { type FaultEffect, type FaultName, requestKinds, retryAfters } from "./fault.ts";
import { publishedRefusals } from "./published-refusals.ts";

/** A kind of fault and its arguments. */
export interface FaultKind {
  readonly name: FaultName;
  /** One sentence for the list of faults. */
  readonly meaning: string;
  /** The arguments of this kind with their meanings; all have a default unless the meaning says otherwise. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly read: (args: JsonObject) => FaultEffect;
}

/** The arguments of every fault. */
export const sharedArguments = {
  accountId: "the only account it concerns; every account when left out",
  times: "how often it applies; until it is cleared when left out",
  forMs: "after how many milliseconds it ends by itself",
};

const requestArgument = {
  requests: `which requests: all (of the account document; when left out), ${requestKinds.join(", ")}`,
};
const choices = ["all", ...requestKinds] as const;
const readRequests = (args: JsonObject) => readChoice(args, "requests", choices, "all");

export const faultKinds: ReadonlyMap<string, FaultKind> = new Map(
  [
    kind("drop", "Open streams break off; with times or forMs, later ones too, after their first event.", {}, () => ({
      fault: "drop",
    })),
    kind(
      "stream-error",
      "Open streams get an error event and end; with times or forMs, later ones too, after their first event.",
      { message: "its text" },
      (args) => ({ fault: "stream-error", message: readText(args, "message", "internal error") }),
    ),
    kind(
      "silence",
      "Open streams stay open and carry no more bytes.",
      { newConnections: "true: requests that come later get no answer either" },
      (args) => ({ fault: "silence", newConnections: readBoolean(args, "newConnections") }),
    ),
    kind("keep-alives-only", "Streams carry keep-alives but no changes; a read shows the changes.", {}, () => ({
      fault: "keep-alives-only",
    })),
    kind("slow", "Every answer and every event comes late.", { ms: "how late; it must be given" }, (args) => ({
      fault: "slow",
      ms: readWhole(args, "ms", undefined, 1, 600_000),
    })),
    kind("cut-mid-frame", "The next put is cut in the middle, and its stream ends.", {}, () => ({
      fault: "cut-mid-frame",
    })),
    kind(
      "malformed",
      "Puts are malformed.",
      { kind: `one of: ${malformedKinds.join(", ")}; bad-json when left out` },
      (args) => ({ fault: "malformed", kind: readChoice(args, "kind", malformedKinds, "bad-json") }),
    ),
    kind("duplicate", "Each put comes twice.", {}, () => ({ fault: "duplicate" })),
    kind(
      "out-of-size",
      "Puts are enlarged by an unknown field.",
      { megabytes: "by how much; 3 when left out" },
      (args) => ({ fault: "out-of-size", megabytes: readWhole(args, "megabytes", 3, 1, 30) }),
    ),
    kind("unauthorized", "Requests are answered as if the token were wrong: 401.", requestArgument, (args) => ({
      fault: "unauthorized",
      requests: readRequests(args),
    })),
    kind(
      "too-many-requests",
      "Requests are refused as too many: 429.",
      {
        retryAfter: `how Retry-After is written: ${retryAfters.join(", ")}; seconds when left out`,
        seconds: "how long it asks to wait; 60 when left out",
        ...requestArgument,
      },
      (args) => ({
        fault: "too-many-requests",
        retryAfter: readChoice(args, "retryAfter", retryAfters, "seconds"),
        seconds: readWhole(args, "seconds", 60, 0, 86_400),
        requests: readRequests(args),
      }),
    ),
    kind(
      "server-error",
      "Requests are answered with an error of the server.",
      { status: "403 or 500 to 599; 500 when left out", ...requestArgument },
      (args) => ({ fault: "server-error", status: readErrorStatus(args), requests: readRequests(args) }),
    ),
    kind("redirect-loop", "Requests are sent to the address they came to: 307.", requestArgument, (args) => ({
      fault: "redirect-loop",
      requests: readRequests(args),
    })),
    kind(
      "redirect-foreign",
      "Requests are sent to another host: 307.",
      { host: "host and port, or an address to go before the path; it must be given", ...requestArgument },
      (args) => ({ fault: "redirect-foreign", host: readHost(args), requests: readRequests(args) }),
    ),
    kind(
      "reject-fan",
      "Fan commands are refused.",
      {
        reason: `a published refusal: ${Object.keys(publishedRefusals).join(", ")}; away when left out`,
        message: "a text of your own instead",
        status: "the status of your own text; 400 when left out",
      },
      readFanRefusal,
    ),
    kind("withhold-answer", "Commands are carried out and never answered.", {}, () => ({ fault: "withhold-answer" })),
    kind(
      "answer-late",
      "Commands are carried out at once, and answered after the streams have shown it.",
      { afterMs: "how much later; 500 when left out" },
      (args) => ({ fault: "answer-late", afterMs: readWhole(args, "afterMs", 500, 1, 600_000) }),
    ),
    kind(
      "reset-after-body",
      "The connection is reset as soon as a command is read.",
      { carriedOut: "true: the command is carried out" },
      (args) => ({ fault: "reset-after-body", carriedOut: readBoolean(args, "carriedOut") }),
    ),
    kind(
      "accept-then-revert",
      "Fans that are started by a command stop again at once.",
      { afterMs: "after how many milliseconds; 0 when left out" },
      (args) => ({ fault: "accept-then-revert", afterMs: readWhole(args, "afterMs", 0, 0, 3_600_000) }),
    ),
  ].map((known) => [known.name, known]),
);

/** Parses `{"fault": name, …arguments}`. */
export function readEffect(name: unknown, args: JsonObject): FaultEffect {
  const known = typeof name === "string" ? faultKinds.get(name) : undefined;
  if (known === undefined) {
    const names = [...faultKinds.keys()].join(", ");
    throw new Refusal(400, "unknown_fault", `fault must be one of: ${names}.`);
  }
  const unknown = Object.keys(args).find((argument) => !Object.hasOwn(known.arguments, argument));
  if (unknown !== undefined) {
    const all = Object.keys({ ...known.arguments, ...sharedArguments }).join(", ");
    throw badArgument(`The fault ${known.name} has no argument ${unknown}; its arguments are: ${all}.`);
  }
  return known.read(args);
}

function readErrorStatus(args: JsonObject): number {
  return args.status === 403 ? 403 : readWhole(args, "status", 500, 500, 599);
}

function readFanRefusal(args: JsonObject): FaultEffect {
  if (args.message === undefined) {
    const reasons = Object.keys(publishedRefusals) as (keyof typeof publishedRefusals)[];
    return { fault: "reject-fan", ...publishedRefusals[readChoice(args, "reason", reasons, "away")] };
  }
  const message = readText(args, "message", "");
  return { fault: "reject-fan", status: readWhole(args, "status", 400, 400, 599), message, anchor: undefined };
}

function kind(name: FaultName, meaning: string, known: FaultKind["arguments"], read: FaultKind["read"]): FaultKind {
  return { name, meaning, arguments: known, read };
}
