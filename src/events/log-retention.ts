import { pause, type Runtime } from "../runtime/runtime.ts";
import { Sweep } from "../runtime/sweep.ts";
import type { Store, Transaction } from "../store/seam.ts";

type RetentionTables = Pick<Transaction, "log" | "webhooks" | "deliveries" | "clock">;

export interface RetentionParts {
  readonly store: Store<RetentionTables>;
  readonly runtime: Runtime;
  /** How long what happened is kept. */
  readonly keptMs: number;
}

const everyMs = 60_000;
/** Few at a time, with a pause between: a commit never waits for more than one such piece. */
const piece = { entries: 500, pauseMs: 50 };

/** Removes what the log no longer needs to hold, and what webhooks were told, so that the store stays as large as it is. */
export class LogRetention {
  readonly #parts: RetentionParts;
  readonly #sweep: Sweep;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#sweep = new Sweep({
      task: "log_retention",
      failure: "the log could not be shortened",
      everyMs,
      runtime: parts.runtime,
      remove: (signal) => this.#removeAll(signal),
    });
  }

  start(): void {
    this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  /** Answers how many entries it has removed. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  async #removeAll(signal: AbortSignal): Promise<number> {
    const { store } = this.#parts;
    await store.transaction((tx) => tx.webhooks.removeDead());
    await this.#piecewise(signal, (tx, beforeMs) => tx.deliveries.removeSettled(beforeMs, piece.entries));
    return this.#piecewise(signal, (tx, beforeMs) => tx.log.removeOlder(beforeMs, piece.entries));
  }

  async #piecewise(
    signal: AbortSignal,
    remove: (tx: RetentionTables, beforeMs: number) => Promise<number>,
  ): Promise<number> {
    const { store, runtime, keptMs } = this.#parts;
    let all = 0;
    while (!signal.aborted) {
      const removed = await store.transaction(async (tx) => remove(tx, (await tx.clock.nowMs()) - keptMs));
      if (removed === 0) break;
      all += removed;
      await pause(runtime, piece.pauseMs, signal);
    }
    return all;
  }
}
