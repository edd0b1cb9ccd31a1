import { attemptsIn, type TransactionRetries, type WorkOptions } from "../devices/attempts.ts";
import { type Condition, isMet } from "../model/condition.ts";
import { PatternsUnavailable } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { MatchCaller, MatchTurns } from "./match-turns.ts";
import type { PatternAnswer, PatternJob, PatternWork } from "./pattern-cache.ts";
import type { Patterns } from "./patterns.ts";

/** Steps, compiling included, that one transaction or question takes in the event loop: 1 to 2 ms; measured. */
export const inlineSteps = 50_000;
/** A pattern whose size is unknown is matched at once if it takes no more steps than this. */
const unsizedSteps = 10_000;
/** The bounds of one job, so that the turns of others come soon. */
const jobLimits = { steps: 250_000, questions: 64 };

/**
 * `stopped`: a limit does not allow it. `no thread`: it is costly, and its thread could not be started. `later`: the
 * transaction runs again when the answer is known.
 */
export type Judgement = boolean | "stopped" | "no thread" | "later";

/** Whether a condition is true now, or why that was not evaluated. */
export type PresentJudgement = boolean | "too costly" | "too many steps";

/** What one change may take (chain.ts). */
export interface PatternBudget {
  mayCompile(pattern: string, cost: number): boolean;
  maySpend(steps: number): boolean;
}

export interface MatchingParts {
  readonly patterns: Patterns;
  readonly turns: MatchTurns;
  /** Whether transactions leave costly matches to the turns. Without it they make all of them themselves. */
  readonly isDeferring: boolean;
  readonly tenantOf: (userId: UserId) => Promise<TenantId | undefined>;
}

/** Matches for one user that the attempts of a transaction leave to the thread, by value and pattern. */
interface DeferredMatches {
  readonly answers: Map<string, Map<string, PatternAnswer | "failed" | "no thread">>;
  readonly open: Map<string, Map<string, { readonly mostSteps: number }>>;
  readonly work: () => Promise<void>;
}

/**
 * Decides whether conditions are true. A cheap pattern is matched in place. A costly one is matched by a thread, in fair
 * turns: meanwhile no transaction is open, so that other writers go on.
 */
export class Matching {
  readonly #parts: MatchingParts;
  /** For each user: in a group one user can be removed while the others' matches wait. */
  readonly #deferred = new WeakMap<TransactionRetries, Map<UserId, DeferredMatches>>();
  /** Steps that a transaction has left for matches in place. */
  readonly #left = new WeakMap<object, number>();

  constructor(parts: MatchingParts) {
    this.#parts = parts;
  }

  /**
   * Judges within a transaction. Whether a limit allows it depends on the definitions and the value alone, never on what
   * is in the node's memory.
   */
  judge(tx: object, budget: PatternBudget, userId: UserId, condition: Condition, value: string | null): Judgement {
    const { patterns } = this.#parts;
    if (condition.operation !== "regex" || value === null) return isMet(condition, value, patterns.matches);
    const { pattern } = condition;
    if (patterns.isTooCostly(pattern) || !budget.mayCompile(pattern, patterns.costOf(pattern))) return "stopped";
    const attempts = this.#parts.isDeferring ? attemptsIn(tx) : undefined;
    const deferred = attempts && this.#deferredIn(attempts, userId);
    const answer = deferred?.answers.get(value)?.get(pattern);
    if (answer === "failed") return "stopped";
    if (answer === "no thread") return answer;
    let size = patterns.knownSize(pattern) ?? answer?.size;
    if (size === undefined && (!deferred || this.#mayTake(tx, patterns.stepsToCompile(pattern)))) {
      size = patterns.sizeOf(pattern);
    }
    if (size === undefined) return defer(attempts!, deferred!, pattern, value, unsizedSteps);
    const steps = size * value.length;
    if (!budget.maySpend(steps)) return "stopped";
    if (typeof answer?.isMatch === "boolean") return answer.isMatch;
    const isInline = !deferred || this.#mayTake(tx, steps + patterns.stepsToCompile(pattern));
    return isInline ? patterns.matches(pattern, value) : defer(attempts!, deferred!, pattern, value, steps);
  }

  /** Judges outside of transactions, if that is cheap. */
  judgeCheap(condition: Condition, value: string | null): PresentJudgement | undefined {
    const { patterns } = this.#parts;
    if (condition.operation !== "regex" || value === null) return isMet(condition, value, patterns.matches);
    const { pattern } = condition;
    if (patterns.isTooCostly(pattern)) return "too costly";
    const isKnown = patterns.knownSize(pattern) !== undefined;
    if (!isKnown && patterns.stepsToCompile(pattern) > inlineSteps) return undefined;
    const steps = (patterns.knownSize(pattern) ?? patterns.sizeOf(pattern)) * value.length;
    if (steps > limits.patternStepsPerExplanation) return "too many steps";
    return steps + patterns.stepsToCompile(pattern) <= inlineSteps ? patterns.matches(pattern, value) : undefined;
  }

  /** Judges by the thread, in a turn of the caller. */
  async judgeBy(work: PatternWork, condition: Condition, value: string | null): Promise<PresentJudgement> {
    const cheap = this.judgeCheap(condition, value);
    if (cheap !== undefined || condition.operation !== "regex") return cheap ?? false;
    const { pattern } = condition;
    const question = { pattern, valueIndex: 0, mostSteps: limits.patternStepsPerExplanation };
    const [answer] = (await work.run({ values: [value!], questions: [question] })) ?? [];
    if (!answer) return "too costly";
    this.#parts.patterns.remember(pattern, answer.size);
    return answer.isMatch ?? "too many steps";
  }

  #mayTake(tx: object, steps: number): boolean {
    const left = (this.#left.get(tx) ?? inlineSteps) - steps;
    if (left >= 0) this.#left.set(tx, left);
    return left >= 0;
  }

  #deferredIn(attempts: TransactionRetries, userId: UserId): DeferredMatches {
    const ofUsers = this.#deferred.get(attempts) ?? new Map<UserId, DeferredMatches>();
    this.#deferred.set(attempts, ofUsers);
    const known = ofUsers.get(userId);
    if (known) return known;
    const deferred: DeferredMatches = {
      answers: new Map(),
      open: new Map(),
      work: () => this.#answer(deferred, userId, attempts.options),
    };
    ofUsers.set(userId, deferred);
    return deferred;
  }

  async #answer(deferred: DeferredMatches, userId: UserId, options: WorkOptions): Promise<void> {
    const { turns, tenantOf, patterns } = this.#parts;
    const tenantId = await tenantOf(userId);
    // The user was removed meanwhile: the next attempt does not reach its alerts.
    if (tenantId === undefined) return;
    const caller = this.#callerOf(tenantId, userId, options);
    await turns.admit(caller, async () => {
      let hasThread = true;
      for (const job of jobsOf(deferred.open, patterns)) {
        const answers: ThreadAnswers = hasThread
          ? await turns.run(caller, (work) => answersOf(work, job))
          : "no thread";
        hasThread = answers !== "no thread";
        for (const [index, { pattern, valueIndex }] of job.questions.entries()) {
          const answer = answers === "no thread" ? answers : (answers[index] ?? "failed");
          if (typeof answer !== "string") patterns.remember(pattern, answer.size);
          entryOf(deferred.answers, job.values[valueIndex]!).set(pattern, answer);
        }
      }
      deferred.open.clear();
    });
  }

  /**
   * How a change waits. An alarm that a client reports is neither refused nor given up when the client has gone. A client
   * can report alarms without end, so beyond the limit they wait like its other changes.
   */
  #callerOf(
    tenantId: TenantId,
    userId: UserId,
    { mayRefuse, urgent = false, becomesUrgent, abandoned }: WorkOptions,
  ): MatchCaller {
    const name = `changes of user ${userId}`;
    if (!mayRefuse) return { tenantId, name, urgent, becomesUrgent, disconnected: abandoned };
    const alarm = { tenantId, name: `alarms of user ${userId}`, urgent, limit: changesWaiting };
    if (urgent && this.#parts.turns.mayAdmit(alarm)) return alarm;
    return { tenantId, name, becomesUrgent, disconnected: abandoned, limit: changesWaiting };
  }
}

const changesWaiting = {
  name: "changesWaiting",
  sentence: "Too many changes of this user wait for costly patterns of alerts. Nothing was changed. Try again later.",
} as const;

function defer(
  attempts: TransactionRetries,
  { open, work }: DeferredMatches,
  pattern: string,
  value: string,
  mostSteps: number,
): Judgement {
  if (!attempts.mayRunAgain) return "stopped";
  entryOf(open, value).set(pattern, { mostSteps });
  attempts.runAgainAfter(work);
  return "later";
}

function entryOf<Entry>(maps: Map<string, Map<string, Entry>>, key: string): Map<string, Entry> {
  const entry = maps.get(key) ?? new Map<string, Entry>();
  maps.set(key, entry);
  return entry;
}

/** The open questions, in jobs of bounded size. */
function* jobsOf(open: DeferredMatches["open"], patterns: Patterns): Generator<PatternJob> {
  for (const [value, questions] of open) {
    let present: PatternJob["questions"] = [];
    let steps = 0;
    for (const [pattern, { mostSteps }] of questions) {
      const more = mostSteps + patterns.stepsToCompile(pattern);
      if (present.length > 0 && (steps + more > jobLimits.steps || present.length === jobLimits.questions)) {
        yield { values: [value], questions: present };
        present = [];
        steps = 0;
      }
      present = [...present, { pattern, valueIndex: 0, mostSteps }];
      steps += more;
    }
    yield { values: [value], questions: present };
  }
}

type ThreadAnswers = readonly (PatternAnswer | undefined)[] | "no thread";

/** The answers to a job. If the thread fails, each question is asked alone: only the one that ends it stays open. */
async function answersOf(work: PatternWork, job: PatternJob): Promise<ThreadAnswers> {
  try {
    const answers = await work.run(job);
    if (answers || job.questions.length === 1) return answers ?? [];
    const alone = [];
    for (const question of job.questions) alone.push((await work.run({ ...job, questions: [question] }))?.[0]);
    return alone;
  } catch (error) {
    if (error instanceof PatternsUnavailable) return "no thread";
    throw error;
  }
}
