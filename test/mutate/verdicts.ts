import type { Baseline } from "./baseline.ts";
import { chosenTests } from "./chosen-tests.ts";
import type { Mutant } from "./mutants.ts";
import type { RecordedTest } from "./orders.ts";
import type { RecentKills } from "./recent-kills.ts";
import { WorkerProcess } from "./worker-process.ts";

/** "untested": no test comes by the mutant. */
export interface Verdict {
  readonly mutant: Mutant;
  readonly outcome: "killed" | "survived" | "untested";
  /** The test that failed, or how else the mutant was noticed. */
  readonly by?: string;
}

/** Beyond the time that the tests of a mutant took without it, times ten. */
const patienceMs = 30_000;

/** Tries one mutant in a worker that is kept for the next one. */
export async function judge(
  mutant: Mutant,
  worker: WorkerProcess,
  sources: string,
  baseline: Baseline,
  testsOfFile: (file: string) => readonly RecordedTest[],
  kills: RecentKills,
  budgetMs: number,
): Promise<Verdict> {
  const direct = chosenTests(mutant, kills.inOrder(mutant, baseline.testsOf.get(mutant.id) ?? []), budgetMs);
  const isAtLoad = baseline.atLoad.has(mutant.id);
  const first = direct.length === 0 ? undefined : await tryIn(worker, mutant, direct, false);
  if (first && first !== "again" && !(isAtLoad && first.outcome === "survived")) return first;
  const tests = isAtLoad ? chosenTests(mutant, kills.inOrder(mutant, testsOfFile(mutant.file)), budgetMs) : direct;
  if (tests.length === 0) return { mutant, outcome: direct.length > 0 ? "survived" : "untested" };
  if (first !== "again") {
    const anew = await tryIn(worker, mutant, tests, true);
    return anew === "again" ? { mutant, outcome: "survived" } : anew;
  }
  // An earlier mutant, or this one, may have left traces in the worker's memory: another process tells.
  worker.stop();
  const fresh = new WorkerProcess(sources, mutant.id);
  try {
    const verdict = await tryIn(fresh, mutant, tests, false);
    return verdict === "again" ? { mutant, outcome: "survived" } : verdict;
  } finally {
    fresh.stop();
  }
}

/** "again": what happened may come from traces in the worker's memory. */
async function tryIn(
  worker: WorkerProcess,
  mutant: Mutant,
  tests: readonly RecordedTest[],
  isAnew: boolean,
): Promise<Verdict | "again"> {
  const limitMs = tests.reduce((sum, { ms }) => sum + ms, 0) * 10 + patienceMs;
  const answer = await worker.ask({ kind: "try", mutant: mutant.id, tests, isAnew }, limitMs);
  switch (answer?.kind) {
    case "killed":
      return answer.isSound ? { mutant, outcome: "killed", by: answer.by } : "again";
    case "survived":
      return answer.isReached ? { mutant, outcome: "survived" } : "again";
    default:
      return { mutant, outcome: "killed", by: "its process ended, or did not end in time" };
  }
}
