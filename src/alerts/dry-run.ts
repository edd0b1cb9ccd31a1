import { type PastCommitParts, pastCommits } from "../devices/past-commits.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { isMet } from "../model/condition.ts";
import { BadParameter, LimitReached } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { stepTrigger } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { ThingOrder } from "./commanding.ts";
import { callerOf } from "./match-turns.ts";
import type { Patterns } from "./patterns.ts";

/** A period of a device's history: `afterMs` is excluded, `untilMs` included. Both are safe integers. */
export interface Period {
  readonly afterMs: number;
  readonly untilMs: number;
}

export interface DryRun {
  /** Number of changes and writes of the attribute or field. */
  readonly events: number;
  readonly firings: readonly { readonly timeMs: number; readonly value: string | null }[];
  /** What each firing would send to the things that the user has now. */
  readonly commands: readonly ThingOrder[];
}

/** The events that the definition would have seen. */
export interface PastEvents {
  readonly kinds: "attributes" | "attributes and things";
  /** The watched value that a commit set; undefined when it set none. */
  readonly valueIn: (commit: LogEntry) => { readonly value: string | null } | undefined;
}

export type TriedAlert = Pick<
  AlertRow,
  "userId" | "deviceId" | "condition" | "autoDisarm" | "autoDelete" | "autoDisable" | "isEnabled"
>;

/** Matches of more steps are not made in one turn of the event loop, except for a single one. */
const stepsPerTurn = 500_000;

/**
 * When a definition would have fired, had it been created at the beginning of the period. The log holds every event
 * that a live alert sees, and both use `stepTrigger`, so the result is exact.
 */
export async function dryRun(
  history: PastCommitParts,
  { userId, deviceId, condition, autoDisarm, autoDelete, autoDisable, isEnabled }: TriedAlert,
  { kinds, valueIn }: PastEvents,
  period: Period,
  patterns: Pick<Patterns, "matches" | "stepsFor">,
): Promise<Omit<DryRun, "commands">> {
  const firings: { timeMs: number; value: string | null }[] = [];
  let events = 0;
  let patternSteps = 0;
  let stepsOfTurn = 0;
  let isLive = isEnabled;
  let isArmed = true;
  let commits = 0;
  const range = { fromMs: period.afterMs + 1, toMs: period.untilMs + 1 };
  for await (const entry of pastCommits(history, userId, deviceId, range, kinds)) {
    commits += 1;
    if (commits > limits.commitsPerDryRun) {
      throw new LimitReached(
        "commitsPerDryRun",
        `Device ${deviceId} has more than ${limits.commitsPerDryRun} changes in this period. Choose a shorter one.`,
      );
    }
    const event = valueIn(entry);
    if (!event) continue;
    events += 1;
    if (!isLive) continue;
    const { value } = event;
    const steps = patterns.stepsFor(condition, value);
    patternSteps += steps;
    if (patternSteps > limits.patternStepsPerDryRun) {
      throw new BadParameter("from", "This pattern takes too long over this period. Choose a shorter one.");
    }
    stepsOfTurn += steps;
    if (stepsOfTurn > stepsPerTurn) {
      await history.turn();
      stepsOfTurn = steps;
    }
    const step = stepTrigger(
      { autoDisarm, autoDelete, autoDisable, isArmed },
      isMet(condition, value, patterns.matches),
    );
    isArmed = step.isArmed;
    isLive = step.fate === "stays";
    if (step.outcome === "fired") firings.push({ timeMs: entry.timeMs, value });
  }
  return { events, firings };
}

/** Limits concurrent dry runs. Each reads a long history, so a second one of the same caller is refused, not queued. */
export class DryRuns {
  readonly #atOnce: number;
  /** The callers of the running ones. */
  readonly #running: string[] = [];

  constructor(atOnce: number = limits.dryRunsAtOnce) {
    this.#atOnce = atOnce;
  }

  async run<Result>(accessScope: AccessScope, act: () => Promise<Result>): Promise<Result> {
    const caller = callerOf(accessScope);
    if (this.#running.filter((other) => other === caller).length >= this.#atOnce) {
      throw new LimitReached("dryRunsAtOnce", "A dry run of yours is still running. Try again when it has ended.");
    }
    this.#running.push(caller);
    try {
      return await act();
    } finally {
      this.#running.splice(this.#running.indexOf(caller), 1);
    }
  }
}
