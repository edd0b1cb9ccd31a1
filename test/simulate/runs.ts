import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { type RunResult, simulate } from "./run.ts";

export interface Runs {
  readonly seed: number;
  readonly runs: number;
  readonly nodes: number;
}

/** Runs seed after seed on all cores and stops at the first that breaks a promise, which it answers. */
export async function runSeeds(
  { seed, runs, nodes }: Runs,
  finished: (result: RunResult) => void,
): Promise<RunResult | undefined> {
  let next = seed;
  const broken: RunResult[] = [];
  const work = async () => {
    const worker = new Worker(new URL(import.meta.url));
    try {
      // Seeds are handed out in order, so that the lowest broken one is among those under way when the first is found.
      while (next < seed + runs && broken.length === 0) {
        const result = await ask(worker, { seed: next++, nodes });
        finished(result);
        if (result.violation !== undefined) broken.push(result);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs) }, work));
  return broken.sort((a, b) => a.seed - b.seed)[0];
}

interface Question {
  readonly seed: number;
  readonly nodes: number;
}

function ask(worker: Worker, question: Question): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    worker.once("message", (result: RunResult) => {
      worker.off("error", reject);
      resolve(result);
    });
    worker.once("error", reject);
    worker.postMessage(question);
  });
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  port.on("message", async ({ seed, nodes }: Question) => {
    const result = await simulate(seed, nodes);
    // Of a run that kept its promises nobody wants to read all that happened.
    port.postMessage(result.violation === undefined ? { ...result, trace: [] } : result);
  });
}
