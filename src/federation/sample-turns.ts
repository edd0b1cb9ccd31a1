import type { Cancel, Runtime } from "../runtime/runtime.ts";

/** The number of commits of samples in each round that need not wait. */
const immediatePerRound = 8;
const roundMs = 1_000;
/** The number of lanes that may commit samples at the same time. */
const mostTurns = 16;

/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

/** Receives the turn of a lane. */
type Begin = (end: EndTurn) => void;

/**
 * Rate limit for commits that store nothing but samples, over all lanes of a node. In a quiet service a lane gets its
 * turn at once. When many lanes have samples, they wait for one to two seconds. Meanwhile another
 * change of the account takes most samples along, and the commits of the others share groups. So samples do not delay alarms.
 */
export class SampleTurns {
  readonly #runtime: Pick<Runtime, "after">;
  /** Lanes that began to wait in this round, in order of arrival, as in the other sets. */
  #newcomers = new Set<Begin>();
  /** Lanes that began to wait in the round before. */
  #waiting = new Set<Begin>();
  /** Lanes that have waited for one to two rounds, and get the next free turns. */
  readonly #due = new Set<Begin>();
  #nextRound: Cancel | undefined;
  #immediateLeft = immediatePerRound;
  /** The turns that have not ended. */
  #turns = 0;

  constructor(runtime: Pick<Runtime, "after">) {
    this.#runtime = runtime;
  }

  /** Takes a turn at once; undefined when this round has no immediate turn left or another lane waits. */
  take(): EndTurn | undefined {
    const waiting = this.#newcomers.size + this.#waiting.size + this.#due.size;
    if (this.#immediateLeft === 0 || waiting > 0) return undefined;
    this.#immediateLeft -= 1;
    this.#schedule();
    return this.#newTurn();
  }

  /** Calls `begin` with a turn when it is the caller's turn, which may be at once. */
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
  }

  #schedule(): void {
    this.#nextRound ??= this.#runtime.after(roundMs, () => {
      this.#nextRound = undefined;
      this.#immediateLeft = immediatePerRound;
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
