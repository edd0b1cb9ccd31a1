import type { AccessScope } from "../model/access-scope.ts";
import { ClientGone, LimitReached } from "../model/errors.ts";
import { type LimitName, limits } from "../model/limits.ts";
import type { PatternWork } from "./pattern-cache.ts";
import { type TurnOwner, TurnQueue } from "./turn-queue.ts";

/** Whose costly patterns are matched. Tenants take turns, and within a tenant its callers. */
export interface MatchCaller extends TurnOwner {
  /** Most tasks of this caller that may wait at once; unlimited when left out. */
  readonly limit?: { readonly name: WaitingLimit; readonly sentence: string };
  /** Aborts when nobody waits for the answer any more. */
  readonly disconnected?: AbortSignal | undefined;
  /** The match decides about an alarm: it goes first. */
  readonly urgent?: boolean;
  /** Aborts when an alarm waits behind the match, so that it becomes urgent too. */
  readonly becomesUrgent?: AbortSignal | undefined;
}

type WaitingLimit = Extract<LimitName, "explanationsWaiting" | "changesWaiting">;

/** How many urgent turns may follow each other while others wait: alarms must not shut out the changes of others. */
const urgentTurnsInARow = 3;

/**
 * Gives the one thread that matches costly patterns to its callers in turn (round robin), so that a caller with many
 * matches delays another tenant by one match only. Matches for alarms go first, in turn among themselves.
 */
export class MatchTurns {
  readonly #work: PatternWork;
  readonly #ordinary = new TurnQueue();
  readonly #urgent = new TurnQueue();
  /** Tasks of each caller with a limit that wait or run. */
  readonly #admitted = new Map<string, number>();
  #isBusy = false;
  #urgentTurns = 0;

  constructor(work: PatternWork) {
    this.#work = work;
  }

  /** Whether the caller's limit allows one more task. */
  mayAdmit({ name, limit }: MatchCaller): boolean {
    return !limit || (this.#admitted.get(keyOf(name, limit)) ?? 0) < limits[limit.name];
  }

  /** Counts the task for the caller's limit while it runs. Throws LimitReached beyond it. */
  async admit<Result>(caller: MatchCaller, task: () => Promise<Result>): Promise<Result> {
    const { name, limit } = caller;
    if (!limit) return task();
    if (!this.mayAdmit(caller)) throw new LimitReached(limit.name, limit.sentence);
    const key = keyOf(name, limit);
    this.#admitted.set(key, (this.#admitted.get(key) ?? 0) + 1);
    try {
      return await task();
    } finally {
      const left = this.#admitted.get(key)! - 1;
      if (left === 0) this.#admitted.delete(key);
      else this.#admitted.set(key, left);
    }
  }

  /**
   * Runs the task when it is the caller's turn. Rejects with ClientGone as soon as its client has gone; a task that has
   * begun then keeps the turn until it ends.
   */
  async run<Result>(caller: MatchCaller, task: (work: PatternWork) => Promise<Result>): Promise<Result> {
    const { disconnected } = caller;
    if (disconnected?.aborted) throw new ClientGone();
    if (this.#isBusy) await this.#wait(caller);
    this.#isBusy = true;
    const running = task(this.#work).finally(() => this.#passOn());
    return disconnected ? orGone(running, disconnected) : running;
  }

  async #wait(caller: MatchCaller): Promise<void> {
    const { urgent, becomesUrgent, disconnected } = caller;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let queue = urgent || becomesUrgent?.aborted ? this.#urgent : this.#ordinary;
    queue.add(caller, resolve);
    const goFirst = () => {
      if (!queue.remove(caller, resolve)) return;
      queue = this.#urgent;
      queue.add(caller, resolve);
    };
    const leave = () => {
      if (queue.remove(caller, resolve)) reject(new ClientGone());
    };
    becomesUrgent?.addEventListener("abort", goFirst, { once: true });
    disconnected?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      becomesUrgent?.removeEventListener("abort", goFirst);
      disconnected?.removeEventListener("abort", leave);
    }
  }

  #passOn(): void {
    this.#isBusy = false;
    const isOrdinaryTurn = this.#urgentTurns >= urgentTurnsInARow && !this.#ordinary.isEmpty;
    const isUrgent = !isOrdinaryTurn && !this.#urgent.isEmpty;
    this.#urgentTurns = isUrgent ? this.#urgentTurns + 1 : 0;
    const begin = (isUrgent ? this.#urgent : this.#ordinary).take();
    if (!begin) return;
    // At once, so that nobody comes in between.
    this.#isBusy = true;
    begin();
  }
}

function keyOf(name: string, limit: NonNullable<MatchCaller["limit"]>): string {
  return `${limit.name} ${name}`;
}

/** The result, or ClientGone as soon as the signal aborts. */
async function orGone<Result>(running: Promise<Result>, disconnected: AbortSignal): Promise<Result> {
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const leave = () => reject(new ClientGone());
  disconnected.addEventListener("abort", leave, { once: true });
  if (disconnected.aborted) leave();
  try {
    return await Promise.race([running, gone]);
  } finally {
    disconnected.removeEventListener("abort", leave);
  }
}

/** Who asks about alerts, beside the access scope. */
export interface Asker {
  /** An operator of the service asks, and not the user whose alerts they are. */
  readonly isOperator?: true;
  readonly disconnected?: AbortSignal | undefined;
}

/** Who asks, as limits count it: a user, all enterprise clients of a tenant, or the operators who look at a home. */
export function askerName(accessScope: AccessScope, { isOperator }: Asker): string {
  const name = accessScope.kind === "user" ? `user ${accessScope.userId}` : `tenant ${accessScope.tenantId}`;
  return isOperator ? `operators of ${name}` : name;
}
