import { BackgroundTask } from "./background-task.ts";
import type { BackgroundTaskName } from "./background-task-names.ts";
import type { Cancel, Runtime } from "./runtime.ts";

export interface SweepParts {
  /** The name of the sweep in metrics. */
  readonly task: BackgroundTaskName;
  /** The sentence in the log when the sweep fails. */
  readonly failure: string;
  readonly everyMs: number;
  readonly runtime: Runtime;
  /** Removes expired items until the signal aborts; returns how many. */
  readonly remove: (signal: AbortSignal) => Promise<number>;
}

/** Removes expired items periodically, one run at a time. A failed run is reported and counted, and the next run follows. */
export class Sweep {
  readonly #parts: SweepParts;
  readonly #task: BackgroundTask;
  readonly #stopping = new AbortController();
  #next: Cancel | undefined;
  #running: Promise<number> | undefined;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask(parts.task, parts.failure, parts.runtime);
  }

  start(): void {
    this.#next = this.#parts.runtime.after(this.#parts.everyMs, () => {
      void this.run()
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

  /** Starts a run, or joins the present one (single-flight). */
  run(): Promise<number> {
    this.#running ??= this.#parts.remove(this.#stopping.signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
