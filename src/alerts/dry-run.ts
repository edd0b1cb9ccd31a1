import { type PastCommitParts, pastCommits } from "../devices/past-commits.ts";
import { type Condition, isMet, type Matches } from "../model/condition.ts";
import { BadParameter, LimitReached } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { stepTrigger } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { ThingOrder } from "./commanding.ts";
import { inlineSteps } from "./matching.ts";
import type { PatternAnswer, PatternJob } from "./pattern-cache.ts";
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

/** Events that are matched together: so many, or with patterns of so many steps. */
const together = { events: 500, steps: 250_000 };

export interface DryRunMatching {
  readonly patterns: Pick<Patterns, "matches" | "sizeOf">;
  /** Matches outside of the event loop; undefined when that failed. */
  readonly answer: (job: PatternJob) => Promise<readonly PatternAnswer[] | undefined>;
}

interface PastEvent {
  readonly timeMs: number;
  readonly value: string | null;
}

/**
 * When a definition would have fired, had it been created at the beginning of the period. The log holds every event
 * that a live alert sees, and both use `stepTrigger`, so the result is exact.
 */
export async function dryRun(
  history: PastCommitParts,
  { userId, deviceId, condition, autoDisarm, autoDelete, autoDisable, isEnabled }: TriedAlert,
  { kinds, valueIn }: PastEvents,
  period: Period,
  matching: DryRunMatching,
): Promise<Omit<DryRun, "commands">> {
  const firings: PastEvent[] = [];
  const stepsOf = stepsOn(condition, matching.patterns);
  let events = 0;
  let patternSteps = 0;
  let isLive = isEnabled;
  let isArmed = true;
  let commits = 0;
  let waiting: PastEvent[] = [];
  let waitingSteps = 0;
  const evaluate = async () => {
    const isCheap = patternSteps + waitingSteps <= inlineSteps;
    const matches = isCheap ? matching.patterns.matches : await matchesOf(condition, waiting, matching.answer);
    for (const { timeMs, value } of waiting) {
      if (!isLive) break;
      patternSteps += stepsOf(value);
      if (patternSteps > limits.patternStepsPerDryRun) {
        throw new BadParameter("from", "This pattern takes too long over this period. Choose a shorter one.");
      }
      const step = stepTrigger({ autoDisarm, autoDelete, autoDisable, isArmed }, isMet(condition, value, matches));
      isArmed = step.isArmed;
      isLive = step.fate === "stays";
      if (step.outcome === "fired") firings.push({ timeMs, value });
    }
    waiting = [];
    waitingSteps = 0;
  };
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
    waiting.push({ timeMs: entry.timeMs, value: event.value });
    waitingSteps += stepsOf(event.value);
    if (waiting.length >= together.events || waitingSteps >= together.steps) await evaluate();
  }
  if (waiting.length > 0) await evaluate();
  return { events, firings };
}

/** The steps that the condition takes on a value. Only a pattern takes steps. */
function stepsOn(condition: Condition, patterns: Pick<Patterns, "sizeOf">): (value: string | null) => number {
  const size = condition.operation === "regex" ? patterns.sizeOf(condition.pattern) : 0;
  return (value) => size * (value?.length ?? 0);
}

/** Whether the condition's pattern matches the values of these events. */
async function matchesOf(
  condition: Condition,
  events: readonly PastEvent[],
  answer: DryRunMatching["answer"],
): Promise<Matches> {
  if (condition.operation !== "regex") return () => false;
  const { pattern } = condition;
  const values = [...new Set(events.flatMap(({ value }) => value ?? []))];
  const questions = values.map((_, valueIndex) => ({ pattern, valueIndex, mostSteps: Number.POSITIVE_INFINITY }));
  const answers = await answer({ values, questions });
  if (!answers) {
    throw new BadParameter("stringThreshold", "This pattern is too costly. Choose another one.");
  }
  const matching = new Set(values.filter((_, index) => answers[index]?.isMatch));
  return (_, value) => matching.has(value);
}

/** Limits concurrent dry runs. Each reads a long history, so a second one of the same caller is refused, not queued. */
export class DryRuns {
  readonly #atOnce: number;
  /** The callers of the running ones. */
  readonly #running: string[] = [];

  constructor(atOnce: number = limits.dryRunsAtOnce) {
    this.#atOnce = atOnce;
  }

  async run<Result>(caller: string, act: () => Promise<Result>): Promise<Result> {
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
