import type { Cancel, Runtime } from "../runtime/runtime.ts";

/** So many commits of samples a second go at once. */
const atOnce = 8;
const roundMs = 1_000;
/** So many lanes commit samples at the same time. */
const mostTurns = 16;

/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

/** Receives the turn of a lane. */
type Begin = (end: EndTurn) => void;

/**
 * Rate limit for commits that store nothing but samples, over all lanes of a node. In a quiet service a lane gets its
 * turn at once. When many lanes have samples, they wait for one to two seconds. Most are then stored with another change
 * of their account, and the others share commit groups. So samples do not delay alarms.
 */
export class SampleTurns {
  readonly #runtime: Pick<Runtime, "after">;
  /** Lanes that came since the last round, and in the second before it. All sets are in order of arrival. */
  #newcomers = new Set<Begin>();
  #waiting = new Set<Begin>();
  /** Lanes that have waited long enough. */
  readonly #due = new Set<Begin>();
  #nextRound: Cancel | undefined;
  #atOnceLeft = atOnce;
  #turns = 0;

  constructor(runtime: Pick<Runtime, "after">) {
    this.#runtime = runtime;
  }

  /** Takes a turn at once, while few lanes commit samples and none waits. */
  take(): EndTurn | undefined {
    const waiting = this.#newcomers.size + this.#waiting.size + this.#due.size;
    if (this.#atOnceLeft === 0 || waiting > 0) return undefined;
    this.#atOnceLeft -= 1;
    this.#schedule();
    return this.#newTurn();
  }

  /** Calls `begin` with a turn when it is the caller's, which may be at once. */
  wait(begin: Begin): Cancel {
    const turn = this.take();
    if (turn) {
      begin(turn);
      return () => undefined;
    }
    this.#newcomers.add(begin);
    this.#schedule();
    return () => {
      for (const lanes of [this.#newcomers, this.#waiting, this.#due]) lanes.delete(begin);
    };
  }

  /** Called when no lane works any more. */
  stop(): void {
    this.#nextRound?.();
    this.#nextRound = undefined;
  }

  #schedule(): void {
    this.#nextRound ??= this.#runtime.after(roundMs, () => {
      this.#nextRound = undefined;
      this.#atOnceLeft = atOnce;
      for (const begin of this.#waiting) this.#due.add(begin);
      this.#waiting = this.#newcomers;
      this.#newcomers = new Set();
      if (this.#waiting.size > 0) this.#schedule();
      this.#grant();
    });
  }

  #grant(): void {
    for (const begin of this.#due) {
      if (this.#turns >= mostTurns) return;
      this.#due.delete(begin);
      begin(this.#newTurn());
    }
  }

  #newTurn(): EndTurn {
    let hasEnded = false;
    this.#turns += 1;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#turns -= 1;
      this.#grant();
    };
  }
}
