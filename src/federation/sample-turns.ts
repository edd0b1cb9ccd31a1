import type { Cancel, Runtime } from "../runtime/runtime.ts";

/** How many lanes of a node commit samples at the same time. */
const mostTurns = 8;
/** After a commit its turn rests so many times as long as the commit took: samples use a fifth of their share. */
const restFactor = 4;
const longestRestMs = 1_000;
/** While a lane has waited longer, turns do not rest. */
const patienceMs = 5_000;

/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

interface WaitingLane {
  readonly sinceMs: number;
  readonly begin: (end: EndTurn) => void;
}

/**
 * Rate limit for commits that store nothing but samples, over all lanes of a node. In a quiet service a lane gets its
 * turn at once. When the store is busy, its commits take longer and so do the rests: samples wait, and most of them are
 * stored with another change of their account. So they do not delay alarms.
 */
export class SampleTurns {
  readonly #runtime: Pick<Runtime, "elapsedMs" | "after">;
  /** Oldest first. */
  readonly #waiting = new Set<WaitingLane>();
  readonly #rests = new Set<Cancel>();
  #free = mostTurns;

  constructor(runtime: Pick<Runtime, "elapsedMs" | "after">) {
    this.#runtime = runtime;
  }

  /** Takes a turn if one is free and no lane waits. */
  take(): EndTurn | undefined {
    return this.#free > 0 && this.#waiting.size === 0 ? this.#newTurn() : undefined;
  }

  /** Calls `begin` with a turn when it is the caller's. Lanes get their turns in the order in which they came. */
  wait(begin: (end: EndTurn) => void): Cancel {
    const lane = { sinceMs: this.#runtime.elapsedMs(), begin };
    this.#waiting.add(lane);
    this.#grant();
    return () => this.#waiting.delete(lane);
  }

  /** Called when no lane works any more. */
  stop(): void {
    for (const cancel of this.#rests) cancel();
    this.#rests.clear();
  }

  #newTurn(): EndTurn {
    const startedMs = this.#runtime.elapsedMs();
    let hasEnded = false;
    this.#free -= 1;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const restMs = Math.min(longestRestMs, restFactor * (this.#runtime.elapsedMs() - startedMs));
      if (restMs > 0 && !this.#isLate()) this.#rest(restMs);
      else this.#release();
    };
  }

  #rest(forMs: number): void {
    const cancel = this.#runtime.after(forMs, () => {
      this.#rests.delete(cancel);
      this.#release();
    });
    this.#rests.add(cancel);
  }

  #release(): void {
    this.#free += 1;
    this.#grant();
  }

  #grant(): void {
    for (const lane of this.#waiting) {
      if (this.#free === 0) return;
      this.#waiting.delete(lane);
      lane.begin(this.#newTurn());
    }
  }

  #isLate(): boolean {
    const [oldest] = this.#waiting;
    return oldest !== undefined && this.#runtime.elapsedMs() - oldest.sinceMs > patienceMs;
  }
}
