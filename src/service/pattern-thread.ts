import { Worker } from "node:worker_threads";
import type { PatternAnswer, PatternJob, PatternWork } from "../alerts/pattern-cache.ts";
import { PatternsUnavailable, StoreUnavailable } from "../model/errors.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";

/** Far above what compiled patterns take (pattern-cache.ts). Beyond it the thread ends, and the process goes on. */
const mostMegabytes = 128;
/** The pauses before a thread is started again. Together they take about as long as the longest match. */
const startPausesMs = [50, 250];

type Answers = readonly PatternAnswer[] | undefined;

/**
 * A thread that compiles and matches costly patterns: a match of the longest value can take a quarter of a second, and
 * the event loop must not wait for it. It starts at the first job. If it ends with an error, only the job in hand fails,
 * and the next job starts it again. A limit of the process can keep it from starting for a moment, so the start is
 * repeated. Then the job fails with PatternsUnavailable: the change that needs it is stored, and its costly alerts are not
 * evaluated.
 */
export class PatternThread implements PatternWork {
  readonly #runtime: Pick<Runtime, "after" | "report">;
  readonly #startWorker: () => Worker;
  readonly #stopping = new AbortController();
  #worker: Worker | undefined;
  #job: PromiseWithResolvers<Answers | "not started"> | undefined;

  constructor(runtime: Pick<Runtime, "after" | "report">, startWorker = startPatternWorker) {
    this.#runtime = runtime;
    this.#startWorker = startWorker;
  }

  async run(job: PatternJob): Promise<Answers> {
    for (const pauseMs of [...startPausesMs, undefined]) {
      const answers = await this.#runOnce(job);
      if (answers !== "not started") return answers;
      if (pauseMs !== undefined) await pause(this.#runtime, pauseMs, this.#stopping.signal);
    }
    throw new PatternsUnavailable("The thread that matches patterns of alerts could not be started.");
  }

  async #runOnce(job: PatternJob): Promise<Answers | "not started"> {
    if (this.#stopping.signal.aborted) throw stopping();
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.#reportFailure(error);
      return "not started";
    }
    const running = Promise.withResolvers<Answers | "not started">();
    this.#job = running;
    // The process stays alive for a job, and not for an idle thread.
    this.#worker.ref();
    this.#worker.postMessage(job);
    return running.promise;
  }

  /** A job in hand is refused: a change that waits for it must not be stored without its alerts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const worker = this.#worker;
    this.#worker = undefined;
    this.#job?.reject(stopping());
    this.#job = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = this.#startWorker();
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
      this.#end(hasStarted ? undefined : "not started");
    });
    return worker;
  }

  #reportFailure(error: unknown): void {
    this.#runtime.report.error({ error }, "the thread that matches patterns of alerts has failed");
  }

  #end(answers: Answers | "not started"): void {
    const job = this.#job;
    this.#job = undefined;
    this.#worker?.unref();
    job?.resolve(answers);
  }
}

/** Starts the thread with this code. */
export function startPatternWorker(code = new URL("./pattern-worker.ts", import.meta.url)): Worker {
  return new Worker(code, { resourceLimits: { maxOldGenerationSizeMb: mostMegabytes } });
}

function stopping(): StoreUnavailable {
  return new StoreUnavailable("The service is stopping.");
}
