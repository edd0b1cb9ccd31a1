import { type Cancel, pause, type Surroundings } from "../model/surroundings.ts";
import type { Store, Transaction } from "../store/seam.ts";

export interface RetentionParts {
  readonly store: Store<Pick<Transaction, "log" | "clock">>;
  readonly surroundings: Surroundings;
  /** How long what happened is kept. */
  readonly keptMs: number;
}

const everyMs = 60_000;
/** Few at a time, with a pause between: a commit never waits for more than one such piece. */
const piece = { entries: 500, pauseMs: 50 };

/** Removes what the log no longer needs to hold, so that the store stays as large as it is. */
export class LogRetention {
  readonly #parts: RetentionParts;
  readonly #stopping = new AbortController();
  #next: Cancel | undefined;
  #running: Promise<number> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#next = this.#parts.surroundings.after(everyMs, () => {
      void this.sweep()
        .catch((error) => this.#parts.surroundings.report.warn({ error }, "the log could not be shortened"))
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
    const { store, surroundings, keptMs } = this.#parts;
    let all = 0;
    while (!this.#stopping.signal.aborted) {
      const removed = await store.transaction(async (tx) =>
        tx.log.removeOlder((await tx.clock.nowMs()) - keptMs, piece.entries),
      );
      if (removed === 0) break;
      all += removed;
      await pause(surroundings, piece.pauseMs, this.#stopping.signal);
    }
    return all;
  }
}
