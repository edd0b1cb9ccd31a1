import { BackgroundTask } from "./background-task.ts";
import type { BackgroundTaskName } from "./background-task-names.ts";
import type { Cancel, Runtime } from "./runtime.ts";

export interface SweepParts {
  /** Names the sweep in metrics. */
  readonly task: BackgroundTaskName;
  /** What the log says when it fails. */
  readonly failure: string;
  readonly everyMs: number;
  readonly runtime: Runtime;
  /** Removes what is due, until the signal; answers how much there was. */
  readonly remove: (signal: AbortSignal) => Promise<number>;
}

/** Removes what is due at intervals. One run at a time; a failure is reported, counted, and followed by the next run. */
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

  /** Joins the run that is under way, or starts one. */
  run(): Promise<number> {
    this.#running ??= this.#parts.remove(this.#stopping.signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
