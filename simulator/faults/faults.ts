import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";
import { badArgument } from "../refusal.ts";
import { readWhole } from "./arguments.ts";
import { readTrouble } from "./catalogue.ts";
import { type CommandDecision, decideCommand, type FacedCommand } from "./decide-command.ts";
import { decideFrame, type FacedFrame, type FrameDecision } from "./decide-frame.ts";
import { decideRequest, type FacedRequest, type RequestDecision } from "./decide-request.ts";
import { concerns, type Fault, type Trouble } from "./fault.ts";

/** A fault as a caller asked for it, before it is on. */
export type FaultPlan = Pick<Fault, "trouble" | "accountId"> & {
  readonly times: number | undefined;
  readonly forMs: number | undefined;
};

/** A fault as it is shown. */
export type ShownFault = JsonObject & { readonly id: string; readonly fault: string };

const mostFaults = 1000;
const mostTimes = 1_000_000;
const longestMs = 7 * 86_400_000;
/** Without a limit these happen once: they are over when the open streams are. */
const momentary: ReadonlySet<string> = new Set(["drop", "stream-error"]);

export function readFaultPlan(body: Json): FaultPlan {
  if (!isJsonObject(body)) throw badArgument('A fault is a JSON object such as {"fault": "drop"}.');
  const { fault, accountId, times, forMs, ...given } = body;
  if (accountId !== undefined && typeof accountId !== "string") throw badArgument("accountId must be a text.");
  return {
    trouble: readTrouble(fault, given),
    accountId,
    times: times === undefined ? undefined : readWhole({ times }, "times", undefined, 1, mostTimes),
    forMs: forMs === undefined ? undefined : readWhole({ forMs }, "forMs", undefined, 1, longestMs),
  };
}

/** The faults that are on. It asks the deciding functions and keeps count of what has struck. */
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

  /** Turns a fault on. One that ends streams has struck once by then: whoever adds it ends those that are open. */
  add({ trouble, accountId, times, forMs }: FaultPlan): ShownFault {
    if (this.#live().length >= mostFaults) throw badArgument(`No more than ${mostFaults} faults can be on.`);
    const serial = this.#nextSerial();
    const untilMs = forMs === undefined ? undefined : this.#nowMs() + forMs;
    const hasStruck = momentary.has(trouble.fault);
    const timesLeft = hasStruck && times !== undefined ? times - 1 : times;
    const fault = { id: `fault-${serial}`, serial, trouble, accountId, timesLeft, untilMs };
    const isOver = hasStruck && (timesLeft === 0 || (times === undefined && forMs === undefined));
    if (!isOver) this.#active = [...this.#active, fault];
    return show(fault);
  }

  /** Ends one fault or, without an id, all; how many were on. */
  clear(id?: string): number {
    const before = this.#live();
    this.#active = id === undefined ? [] : before.filter((fault) => fault.id !== id);
    return before.length - this.#active.length;
  }

  forRequest(request: FacedRequest): RequestDecision {
    return this.#spend(decideRequest(this.#live(), request));
  }

  forCommand(command: FacedCommand): CommandDecision {
    return this.#spend(decideCommand(this.#live(), command));
  }

  /** Undefined, most of the time, when no fault is on at all. */
  forFrame(frame: FacedFrame): FrameDecision | undefined {
    return this.#active.length === 0 ? undefined : this.#spend(decideFrame(this.#live(), frame));
  }

  /** Whether a stream ends right after its first event, and how. */
  forOpened(accountId: string): { trouble: Trouble; struck: readonly Fault[] } | undefined {
    const fault = this.#live().find((each) => concerns(each, accountId) && momentary.has(each.trouble.fault));
    return fault && this.#spend({ trouble: fault.trouble, struck: [fault] });
  }

  #live(): readonly Fault[] {
    const nowMs = this.#nowMs();
    if (this.#active.some(({ untilMs }) => untilMs !== undefined && untilMs <= nowMs)) {
      this.#active = this.#active.filter(({ untilMs }) => untilMs === undefined || untilMs > nowMs);
    }
    return this.#active;
  }

  #spend<Decision extends { readonly struck: readonly Fault[] }>(decision: Decision): Decision {
    const spent = new Set(decision.struck.filter(({ timesLeft }) => timesLeft !== undefined).map(({ id }) => id));
    if (spent.size > 0) {
      this.#active = this.#active
        .map((fault) => (spent.has(fault.id) ? { ...fault, timesLeft: fault.timesLeft! - 1 } : fault))
        .filter(({ timesLeft }) => timesLeft !== 0);
    }
    return decision;
  }
}

function show({ id, trouble, accountId, timesLeft, untilMs }: Fault): ShownFault {
  return {
    id,
    ...(JSON.parse(JSON.stringify(trouble)) as { fault: string }),
    ...(accountId !== undefined && { accountId }),
    ...(timesLeft !== undefined && { timesLeft }),
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
  };
}
