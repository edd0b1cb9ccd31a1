import { BackgroundTask } from "../model/background-task.ts";
import { type Cancel, pause, type Surroundings } from "../model/surroundings.ts";
import type { Store, Transaction } from "../store/seam.ts";

type RetentionTables = Pick<Transaction, "log" | "webhooks" | "deliveries" | "clock">;

export interface RetentionParts {
  readonly store: Store<RetentionTables>;
  readonly surroundings: Surroundings;
  /** How long what happened is kept. */
  readonly keptMs: number;
}

const everyMs = 60_000;
/** Few at a time, with a pause between: a commit never waits for more than one such piece. */
const piece = { entries: 500, pauseMs: 50 };

/** Removes what the log no longer needs to hold, and what webhooks were told, so that the store stays as large as it is. */
export class LogRetention {
  readonly #parts: RetentionParts;
  readonly #stopping = new AbortController();
  readonly #task: BackgroundTask;
  #next: Cancel | undefined;
  #running: Promise<number> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("log_retention", "the log could not be shortened", parts.surroundings);
  }

  start(): void {
    this.#next = this.#parts.surroundings.after(everyMs, () => {
      void this.sweep()
        .then(() => this.#task.succeeded())
        .catch((error) => this.#task.failed(error))
        .finally(() => {
          if (!this.#stopping.signal.aborted) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#next?.();
    this.#stopping.abort();
    await this.#running?.catch(() => undefined);
  }

  /** Answers how many entries it has removed. */
  sweep(): Promise<number> {
    this.#running ??= this.#removeAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #removeAll(): Promise<number> {
    const { store } = this.#parts;
    await store.transaction((tx) => tx.webhooks.removeDead());
    await this.#piecewise((tx, beforeMs) => tx.deliveries.removeSettled(beforeMs, piece.entries));
    return this.#piecewise((tx, beforeMs) => tx.log.removeOlder(beforeMs, piece.entries));
  }

  async #piecewise(remove: (tx: RetentionTables, beforeMs: number) => Promise<number>): Promise<number> {
    const { store, surroundings, keptMs } = this.#parts;
    let all = 0;
    while (!this.#stopping.signal.aborted) {
      const removed = await store.transaction(async (tx) => remove(tx, (await tx.clock.nowMs()) - keptMs));
      if (removed === 0) break;
      all += removed;
      await pause(surroundings, piece.pauseMs, this.#stopping.signal);
    }
    return all;
  }
}
