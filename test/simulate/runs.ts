import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { type RunResult, simulate } from "./run.ts";

export interface Runs {
  readonly seed: number;
  readonly runs: number;
  readonly nodes: number;
}

/** Runs seeds in order on all cores, stops at the first violation, and returns it. */
export async function runSeeds(
  { seed, runs, nodes }: Runs,
  finished: (result: RunResult) => void,
): Promise<RunResult | undefined> {
  let next = seed;
  const failed: RunResult[] = [];
  const work = async () => {
    const worker = new Worker(new URL(import.meta.url));
    try {
      // Seeds are started in order, so the lowest failing seed has been started when the first failure is found.
      while (next < seed + runs && failed.length === 0) {
        const result = await runIn(worker, { seed: next++, nodes });
        finished(result);
        if (result.violation !== undefined) failed.push(result);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs) }, work));
  return failed.sort((a, b) => a.seed - b.seed)[0];
}

interface Job {
  readonly seed: number;
  readonly nodes: number;
}

function runIn(worker: Worker, job: Job): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    worker.once("message", (result: RunResult) => {
      worker.off("error", reject);
      resolve(result);
    });
    worker.once("error", reject);
    worker.postMessage(job);
  });
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  port.on("message", async ({ seed, nodes }: Job) => {
    const result = await simulate(seed, nodes);
    // The trace of a successful run is not needed.
    port.postMessage(result.violation === undefined ? { ...result, trace: [] } : result);
  });
}
