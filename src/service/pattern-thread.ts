import { Worker } from "node:worker_threads";
import type { PatternAnswer, PatternJob, PatternWork } from "../alerts/pattern-cache.ts";
import { StoreUnavailable } from "../model/errors.ts";
import type { Logger } from "../runtime/runtime.ts";

/** Far above what the programs take (programs.ts). Beyond it the thread ends, and the process goes on. */
const mostMegabytes = 128;

/**
 * A thread that compiles and matches costly patterns: a match of the longest value can take a quarter of a second, and
 * the event loop must not wait for it. It starts at the first job. If it ends with an error, only the job in hand fails,
 * and the next job starts it again. A thread that can't be started, as at a limit of the process, answers nothing: the
 * change that needs it is stored, and its costly alerts are stopped.
 */
export class PatternThread implements PatternWork {
  readonly #report: Logger;
  readonly #code: URL;
  #worker: Worker | undefined;
  #job: PromiseWithResolvers<readonly PatternAnswer[] | undefined> | undefined;
  #isStopped = false;

  constructor(report: Logger, code = new URL("./pattern-worker.ts", import.meta.url)) {
    this.#report = report;
    this.#code = code;
  }

  async run(job: PatternJob): Promise<readonly PatternAnswer[] | undefined> {
    if (this.#isStopped) throw stopping();
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.#reportFailure(error);
      return [];
    }
    const running = Promise.withResolvers<readonly PatternAnswer[] | undefined>();
    this.#job = running;
    // The process stays alive for a job, and not for an idle thread.
    this.#worker.ref();
    this.#worker.postMessage(job);
    return running.promise;
  }

  /** A job in hand is refused: a change that waits for it must not be stored without its alerts. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#job?.reject(stopping());
    this.#job = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#code, { resourceLimits: { maxOldGenerationSizeMb: mostMegabytes } });
    const isPresent = () => this.#worker === worker;
    let hasStarted = false;
    worker.on("online", () => {
      hasStarted = true;
    });
    worker.on("message", (answers: readonly PatternAnswer[]) => {
      if (isPresent()) this.#end(answers);
    });
    worker.on("error", (error) => {
      if (isPresent()) this.#reportFailure(error);
    });
    worker.on("exit", () => {
      if (!isPresent()) return;
      this.#worker = undefined;
      this.#end(hasStarted ? undefined : []);
    });
    return worker;
  }

  #reportFailure(error: unknown): void {
    this.#report.error({ error }, "the thread that matches patterns of alerts has failed");
  }

  #end(answers: readonly PatternAnswer[] | undefined): void {
    const job = this.#job;
    this.#job = undefined;
    this.#worker?.unref();
    job?.resolve(answers);
  }
}

function stopping(): StoreUnavailable {
  return new StoreUnavailable("The service is stopping.");
}
