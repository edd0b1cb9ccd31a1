import type { JsonObject } from "../home/json.ts";
import { badArgument, Refusal } from "../refusal.ts";
import { malformedKinds } from "../streams/malformed-frames.ts";
import { readChoice, readClaim, readHost, readText, readWhole } from "./arguments.ts";
import { type FaultName, requestKinds, retryAfters, type Trouble } from "./fault.ts";
import { publishedRefusals } from "./published-refusals.ts";

/** A kind of fault, and how a caller asks for it. */
export interface FaultKind {
  readonly name: FaultName;
  /** One sentence for the list of faults. */
  readonly meaning: string;
  /** The arguments of its own and what each means; all have a default unless the meaning says otherwise. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly read: (given: JsonObject) => Trouble;
}

/** What every fault takes beside its own arguments. */
export const sharedArguments = {
  accountId: "the only account it concerns; every account when left out",
  times: "how often it strikes; until it is cleared when left out",
  forMs: "after how many milliseconds it ends by itself",
};

const requestArgument = {
  requests: `which requests: all (of the account document; when left out), ${requestKinds.join(", ")}`,
};
const choices = ["all", ...requestKinds] as const;
const readRequests = (given: JsonObject) => readChoice(given, "requests", choices, "all");

export const faultKinds: ReadonlyMap<string, FaultKind> = new Map(
  [
    kind("drop", "Open streams break off; with times or forMs, later ones too, after their first event.", {}, () => ({
      fault: "drop",
    })),
    kind(
      "stream-error",
      "Open streams get an error event and end; with times or forMs, later ones too, after their first event.",
      { message: "its text" },
      (given) => ({ fault: "stream-error", message: readText(given, "message", "internal error") }),
    ),
    kind(
      "silence",
      "Open streams carry no more bytes, and nobody closes them.",
      { newConnections: "true: requests that come later get no answer either" },
      (given) => ({ fault: "silence", newConnections: readClaim(given, "newConnections") }),
    ),
    kind("keep-alives-only", "Streams bring keep-alives and no changes; a read shows them.", {}, () => ({
      fault: "keep-alives-only",
    })),
    kind("slow", "Every answer and every event comes late.", { ms: "how late; it must be given" }, (given) => ({
      fault: "slow",
      ms: readWhole(given, "ms", undefined, 1, 600_000),
    })),
    kind("cut-mid-frame", "The next put breaks off in its middle, and the stream with it.", {}, () => ({
      fault: "cut-mid-frame",
    })),
    kind(
      "malformed",
      "Puts come as they should not.",
      { kind: `one of: ${malformedKinds.join(", ")}; bad-json when left out` },
      (given) => ({ fault: "malformed", kind: readChoice(given, "kind", malformedKinds, "bad-json") }),
    ),
    kind("duplicate", "Each put comes twice.", {}, () => ({ fault: "duplicate" })),
    kind(
      "out-of-size",
      "Puts are swollen with a field that nobody knows.",
      { megabytes: "by how much; 3 when left out" },
      (given) => ({ fault: "out-of-size", megabytes: readWhole(given, "megabytes", 3, 1, 30) }),
    ),
    kind("unauthorized", "Requests are answered as if the token were wrong: 401.", requestArgument, (given) => ({
      fault: "unauthorized",
      requests: readRequests(given),
    })),
    kind(
      "too-many-requests",
      "Requests are refused as too many: 429.",
      {
        retryAfter: `how Retry-After is written: ${retryAfters.join(", ")}; seconds when left out`,
        seconds: "how long it asks to wait; 60 when left out",
        ...requestArgument,
      },
      (given) => ({
        fault: "too-many-requests",
        retryAfter: readChoice(given, "retryAfter", retryAfters, "seconds"),
        seconds: readWhole(given, "seconds", 60, 0, 86_400),
        requests: readRequests(given),
      }),
    ),
    kind(
      "server-error",
      "Requests are answered with an error of the server.",
      { status: "403 or 500 to 599; 500 when left out", ...requestArgument },
      (given) => ({ fault: "server-error", status: readErrorStatus(given), requests: readRequests(given) }),
    ),
    kind("redirect-loop", "Requests are sent to the address they came to: 307.", requestArgument, (given) => ({
      fault: "redirect-loop",
      requests: readRequests(given),
    })),
    kind(
      "redirect-foreign",
      "Requests are sent to another host: 307.",
      { host: "host and port, or an address to go before the path; it must be given", ...requestArgument },
      (given) => ({ fault: "redirect-foreign", host: readHost(given), requests: readRequests(given) }),
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
      "reset-after-body",
      "The connection is reset as soon as a command is read.",
      { carriedOut: "true: the command is carried out all the same" },
      (given) => ({ fault: "reset-after-body", carriedOut: readClaim(given, "carriedOut") }),
    ),
    kind(
      "accept-then-revert",
      "Fans that are started by a command stop again at once.",
      { afterMs: "after how many milliseconds; 0 when left out" },
      (given) => ({ fault: "accept-then-revert", afterMs: readWhole(given, "afterMs", 0, 0, 3_600_000) }),
    ),
  ].map((known) => [known.name, known]),
);

/** Reads a fault as a caller asked for it: `{"fault": name, …arguments}`. */
export function readTrouble(name: unknown, given: JsonObject): Trouble {
  const known = typeof name === "string" ? faultKinds.get(name) : undefined;
  if (known === undefined) {
    const names = [...faultKinds.keys()].join(", ");
    throw new Refusal(400, "unknown_fault", `fault must be one of: ${names}.`);
  }
  const unknown = Object.keys(given).find((argument) => !Object.hasOwn(known.arguments, argument));
  if (unknown !== undefined) {
    const all = Object.keys({ ...known.arguments, ...sharedArguments }).join(", ");
    throw badArgument(`The fault ${known.name} has no argument ${unknown}; its arguments are: ${all}.`);
  }
  return known.read(given);
}

function readErrorStatus(given: JsonObject): number {
  return given.status === 403 ? 403 : readWhole(given, "status", 500, 500, 599);
}

function readFanRefusal(given: JsonObject): Trouble {
  if (given.message === undefined) {
    const reasons = Object.keys(publishedRefusals) as (keyof typeof publishedRefusals)[];
    return { fault: "reject-fan", ...publishedRefusals[readChoice(given, "reason", reasons, "away")] };
  }
  const message = readText(given, "message", "");
  return { fault: "reject-fan", status: readWhole(given, "status", 400, 400, 599), message, anchor: undefined };
}

function kind(name: FaultName, meaning: string, known: FaultKind["arguments"], read: FaultKind["read"]): FaultKind {
  return { name, meaning, arguments: known, read };
}
