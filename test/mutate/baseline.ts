import type { RecordedTest } from "./orders.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** What the tests do without a mutant. */
export interface Baseline {
  readonly tests: readonly RecordedTest[];
  /** The tests that come by each mutant. */
  readonly testsOf: ReadonlyMap<number, readonly RecordedTest[]>;
  /** Mutants in code that runs when its module is loaded, as the value of a constant. */
  readonly atLoad: ReadonlySet<number>;
  /** Tests that fail without any mutant, and test files that can't be loaded. */
  readonly failed: readonly string[];
}

/** Runs every test of these files once. */
export async function recordBaseline(workers: readonly WorkerProcess[], files: readonly string[]): Promise<Baseline> {
  const tests: RecordedTest[] = [];
  const testsOf = new Map<number, RecordedTest[]>();
  const atLoad = new Set<number>();
  const failed: string[] = [];
  const waiting = [...files];
  const recordFile = async (worker: WorkerProcess, file: string) => {
    const loaded = await worker.ask({ kind: "load", file }, 120_000);
    if (loaded?.kind !== "loaded") {
      failed.push(`${file}: ${loaded?.kind === "failed" ? loaded.reason : "its process ended"}`);
      return;
    }
    for (const id of loaded.reached) atLoad.add(id);
    for (const name of loaded.tests) {
      const answer = await worker.ask({ kind: "record", test: { file, name } }, 180_000);
      if (answer?.kind !== "recorded") {
        failed.push(`${file}: ${name}: ${answer?.kind === "failed" ? answer.reason : "its process ended"}`);
        continue;
      }
      const test = { file, name, ms: answer.ms, switches: answer.switches };
      tests.push(test);
      for (const id of answer.reached) testsOf.set(id, [...(testsOf.get(id) ?? []), test]);
    }
  };
  await Promise.all(
    workers.map(async (worker) => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await recordFile(worker, file);
    }),
  );
  return { tests, testsOf, atLoad, failed };
}
