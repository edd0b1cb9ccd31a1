import { Worker } from "node:worker_threads";
import type { PatternAnswer, PatternJob, PatternWork } from "../alerts/pattern-cache.ts";
import { PatternsUnavailable, StoreUnavailable } from "../model/errors.ts";
import { WorkerThread } from "../runtime/process/worker-thread.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** Far above what compiled patterns take (pattern-cache.ts). Beyond it the thread ends, and the process goes on. */
const mostMegabytes = 128;

/**
 * A thread that compiles and matches costly patterns: a match of the longest value can take a quarter of a second, and
 * the event loop must not wait for it. If it can't be started, the job fails with PatternsUnavailable: the change that
 * needs it is stored, and its costly alerts are not evaluated.
 */
export class PatternThread implements PatternWork {
  readonly #thread: WorkerThread<PatternJob, readonly PatternAnswer[]>;

  constructor(runtime: Pick<Runtime, "after" | "report">, startWorker = startPatternWorker) {
    this.#thread = new WorkerThread({
      runtime,
      startWorker,
      label: "the thread that matches patterns of alerts",
      unavailable: () => new PatternsUnavailable("The thread that matches patterns of alerts could not be started."),
      stopping: () => new StoreUnavailable("The service is stopping."),
    });
  }

  run(job: PatternJob): Promise<readonly PatternAnswer[] | undefined> {
    return this.#thread.run(job);
  }

  /** A job in hand is refused: a change that waits for it must not be stored without its alerts. */
  stop(): Promise<void> {
    return this.#thread.stop();
  }
}

/** Starts the thread with this code. */
export function startPatternWorker(code = new URL("./pattern-worker.ts", import.meta.url)): Worker {
  return new Worker(code, { resourceLimits: { maxOldGenerationSizeMb: mostMegabytes } });
}
