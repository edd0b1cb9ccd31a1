import { pause, type Runtime } from "../runtime/runtime.ts";
import { Sweep } from "../runtime/sweep.ts";
import type { Store, Transaction } from "../store/seam.ts";

type RetentionTables = Pick<Transaction, "log" | "webhooks" | "deliveries" | "clock">;

export interface RetentionParts {
  readonly store: Store<RetentionTables>;
  readonly runtime: Runtime;
  /** How long entries are kept. */
  readonly keptMs: number;
}

const everyMs = 60_000;
/** Entries are removed in small batches with a pause between, so that a commit never waits for more than one batch. */
const batch = { entries: 500, pauseMs: 50 };

/** Removes old log entries and settled webhook deliveries, so that the store does not grow without bound. */
export class LogRetention {
  readonly #parts: RetentionParts;
  readonly #sweep: Sweep;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#sweep = new Sweep({
      task: "log_retention",
      failure: "old log entries could not be removed",
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

  /** Returns the number of removed entries. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  async #removeAll(signal: AbortSignal): Promise<number> {
    const { store } = this.#parts;
    await store.transaction((tx) => tx.webhooks.removeDead());
    await this.#removeInBatches(signal, (tx, beforeMs) => tx.deliveries.removeSettled(beforeMs, batch.entries));
    return this.#removeInBatches(signal, (tx, beforeMs) => tx.log.removeOlder(beforeMs, batch.entries));
  }

  async #removeInBatches(
    signal: AbortSignal,
    remove: (tx: RetentionTables, beforeMs: number) => Promise<number>,
  ): Promise<number> {
    const { store, runtime, keptMs } = this.#parts;
    let total = 0;
    while (!signal.aborted) {
      const removed = await store.transaction(async (tx) => remove(tx, (await tx.clock.nowMs()) - keptMs));
      if (removed === 0) break;
      total += removed;
      await pause(runtime, batch.pauseMs, signal);
    }
    return total;
  }
}
