import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";
import { badArgument } from "../refusal.ts";
import { readWhole } from "./arguments.ts";
import { readEffect } from "./catalogue.ts";
import { type CommandDecision, type CommandInfo, decideCommand } from "./decide-command.ts";
import { decideFrame, type FrameDecision, type FrameInfo } from "./decide-frame.ts";
import { decideRequest, type RequestDecision, type RequestInfo } from "./decide-request.ts";
import { concerns, type Fault, type FaultEffect } from "./fault.ts";

/** A requested fault, before it is active. */
export type FaultPlan = Pick<Fault, "effect" | "accountId"> & {
  readonly times: number | undefined;
  readonly forMs: number | undefined;
};

/** A fault in answers of the control interface. */
export type ShownFault = JsonObject & { readonly id: string; readonly fault: string };

const maxFaults = 1000;
const maxTimes = 1_000_000;
const longestMs = 7 * 86_400_000;
/** Without `times` or `forMs` these faults apply once, to the streams that are open. */
const endingStreams: ReadonlySet<string> = new Set(["drop", "stream-error"]);

export function readFaultPlan(body: Json): FaultPlan {
  if (!isJsonObject(body)) throw badArgument('A fault is a JSON object such as {"fault": "drop"}.');
  const { fault, accountId, times, forMs, ...args } = body;
  if (accountId !== undefined && typeof accountId !== "string") throw badArgument("accountId must be a text.");
  return {
    effect: readEffect(fault, args),
    accountId,
    times: times === undefined ? undefined : readWhole({ times }, "times", undefined, 1, maxTimes),
    forMs: forMs === undefined ? undefined : readWhole({ forMs }, "forMs", undefined, 1, longestMs),
  };
}

/** The active faults. Counts how often each has applied; the `decide…` functions say which ones apply. */
export class Faults {
  readonly #nowMs: () => number;
  readonly #nextSerial: () => number;
  #active: readonly Fault[] = [];

  constructor(nowMs: () => number, nextSerial: () => number) {
    this.#nowMs = nowMs;
    this.#nextSerial = nextSerial;
  }

  get shown(): readonly ShownFault[] {
    return this.#live().map(show);
  }

  /** Activates a fault. A fault that ends streams counts as applied once: the caller ends the open streams. */
  add({ effect, accountId, times, forMs }: FaultPlan): ShownFault {
    if (this.#live().length >= maxFaults) throw badArgument(`No more than ${maxFaults} faults can be on.`);
    const serial = this.#nextSerial();
    const untilMs = forMs === undefined ? undefined : this.#nowMs() + forMs;
    const endsStreams = endingStreams.has(effect.fault);
    const timesLeft = endsStreams && times !== undefined ? times - 1 : times;
    const fault = { id: `fault-${serial}`, serial, effect, accountId, timesLeft, untilMs };
    const isOver = endsStreams && (timesLeft === 0 || (times === undefined && forMs === undefined));
    if (!isOver) this.#active = [...this.#active, fault];
    return show(fault);
  }

  /** Ends one fault or, without an id, all. Returns how many were active. */
  clear(id?: string): number {
    const before = this.#live();
    this.#active = id === undefined ? [] : before.filter((fault) => fault.id !== id);
    return before.length - this.#active.length;
  }

  forRequest(request: RequestInfo): RequestDecision {
    return this.#spend(decideRequest(this.#live(), request));
  }

  forCommand(command: CommandInfo): CommandDecision {
    return this.#spend(decideCommand(this.#live(), command));
  }

  /** Undefined if no fault is active, which is the usual case. */
  forFrame(frame: FrameInfo): FrameDecision | undefined {
    return this.#active.length === 0 ? undefined : this.#spend(decideFrame(this.#live(), frame));
  }

  /** The fault that ends a new stream after its first event, if any. */
  forOpened(accountId: string): { effect: FaultEffect; applied: readonly Fault[] } | undefined {
    const fault = this.#live().find((each) => concerns(each, accountId) && endingStreams.has(each.effect.fault));
    return fault && this.#spend({ effect: fault.effect, applied: [fault] });
  }

  #live(): readonly Fault[] {
    const nowMs = this.#nowMs();
    if (this.#active.some(({ untilMs }) => untilMs !== undefined && untilMs <= nowMs)) {
      this.#active = this.#active.filter(({ untilMs }) => untilMs === undefined || untilMs > nowMs);
    }
    return this.#active;
  }

  #spend<Decision extends { readonly applied: readonly Fault[] }>(decision: Decision): Decision {
    const spent = new Set(decision.applied.filter(({ timesLeft }) => timesLeft !== undefined).map(({ id }) => id));
    if (spent.size > 0) {
      this.#active = this.#active
        .map((fault) => (spent.has(fault.id) ? { ...fault, timesLeft: fault.timesLeft! - 1 } : fault))
        .filter(({ timesLeft }) => timesLeft !== 0);
    }
    return decision;
  }
}

function show({ id, effect, accountId, timesLeft, untilMs }: Fault): ShownFault {
  return {
    id,
    ...(JSON.parse(JSON.stringify(effect)) as { fault: string }),
    ...(accountId !== undefined && { accountId }),
    ...(timesLeft !== undefined && { timesLeft }),
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
  };
}
