import type { Transferable, Worker } from "node:worker_threads";
import { pause, type Runtime } from "../runtime.ts";

/** The pauses before a thread is started again. Together they take about as long as the longest job. */
const startPausesMs = [50, 250];

export interface WorkerThreadParts {
  readonly runtime: Pick<Runtime, "after" | "report">;
  readonly startWorker: () => Worker;
  /** For the log: "the thread that …". */
  readonly label: string;
  /** The error of a job when the thread could not be started. */
  readonly unavailable: () => Error;
  /** The error of a job in hand, and of later ones, when the thread is stopped. */
  readonly stopping: () => Error;
}

/**
 * A thread that takes one job at a time. It starts at the first job. If it ends with an error, only the job in hand
 * fails, and the next job starts it again. A limit of the process can keep it from starting for a moment, so the start
 * is repeated.
 */
export class WorkerThread<Job, Answer> {
  readonly #parts: WorkerThreadParts;
  readonly #ending = new AbortController();
  #worker: Worker | undefined;
  #job: PromiseWithResolvers<Answer | undefined | "not started"> | undefined;

  constructor(parts: WorkerThreadParts) {
    this.#parts = parts;
  }

  /** Undefined if the thread ended with the job in hand. `transfer`: memory that the thread takes over. */
  async run(job: Job, transfer: readonly Transferable[] = []): Promise<Answer | undefined> {
    for (const pauseMs of [...startPausesMs, undefined]) {
      const answer = await this.#runOnce(job, transfer);
      if (answer !== "not started") return answer;
      if (pauseMs !== undefined) await pause(this.#parts.runtime, pauseMs, this.#ending.signal);
    }
    throw this.#parts.unavailable();
  }

  async #runOnce(job: Job, transfer: readonly Transferable[]): Promise<Answer | undefined | "not started"> {
    if (this.#ending.signal.aborted) throw this.#parts.stopping();
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.#reportFailure(error);
      return "not started";
    }
    const running = Promise.withResolvers<Answer | undefined | "not started">();
    this.#job = running;
    // The process stays alive for a job, and not for an idle thread.
    this.#worker.ref();
    this.#worker.postMessage(job, transfer);
    return running.promise;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    const worker = this.#worker;
    this.#worker = undefined;
    this.#job?.reject(this.#parts.stopping());
    this.#job = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = this.#parts.startWorker();
    const isPresent = () => this.#worker === worker;
    let hasStarted = false;
    worker.on("online", () => {
      hasStarted = true;
    });
    worker.on("message", (answer: Answer) => {
      if (isPresent()) this.#end(answer);
    });
    worker.on("error", (error) => {
      if (isPresent()) this.#reportFailure(error);
    });
    worker.on("exit", () => {
      if (!isPresent()) return;
      this.#worker = undefined;
      this.#end(hasStarted ? undefined : "not started");
    });
    return worker;
  }

  #reportFailure(error: unknown): void {
    this.#parts.runtime.report.error({ error }, `${this.#parts.label} has failed`);
  }

  #end(answer: Answer | undefined | "not started"): void {
    const job = this.#job;
    this.#job = undefined;
    this.#worker?.unref();
    job?.resolve(answer);
  }
}
