import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** One look at the log after so many commits. */
const commitsBetween = 500;

/**
 * Moves the write-ahead log into the database from a thread of its own: a checkpoint syncs the database file, and no
 * commit should wait for that.
 */
export class Checkpointer {
  readonly #file: string;
  #worker: Worker | undefined;
  #commits = 0;

  constructor(file: string) {
    this.#file = file;
  }

  committed(): void {
    this.#commits += 1;
    if (this.#commits % commitsBetween !== 0) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage("checkpoint");
  }

  async stop(): Promise<void> {
    if (!this.#worker) return;
    this.#worker.postMessage("stop");
    await once(this.#worker, "exit");
    this.#worker = undefined;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData: this.#file });
    worker.unref();
    // Without it the log only grows until the next start; commits stay as safe as they were.
    worker.on("error", () => {
      this.#worker = undefined;
    });
    return worker;
  }
}
