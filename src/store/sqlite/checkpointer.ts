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
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = undefined;
    // A checkpoint that fails on its way out ends it all the same.
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage("stop");
    await ended;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData: this.#file });
    worker.unref();
    // Without it commits do its work once the log is long (sqlite/store.ts); they stay as safe as they were.
    worker.on("error", () => {
      this.#worker = undefined;
    });
    return worker;
  }
}
