import { Worker } from "node:worker_threads";

const commitsBetween = 500;

/**
 * Runs a checkpoint, which moves the write-ahead log into the database, after every 500 commits. It has a thread of its
 * own: a checkpoint syncs the database file, and no commit should wait for that.
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
    // The worker exits also when its last checkpoint fails.
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage("stop");
    await ended;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData: this.#file });
    worker.unref();
    // Without a worker, commits run the checkpoint themselves when the log is long (wal_autocheckpoint, sqlite/store.ts).
    worker.on("error", () => {
      this.#worker = undefined;
    });
    return worker;
  }
}
