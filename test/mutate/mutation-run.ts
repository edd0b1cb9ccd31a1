import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { recordBaseline } from "./baseline.ts";
import { testsAround } from "./importing-tests.ts";
import type { Mutant } from "./mutants.ts";
import { RecentKills } from "./recent-kills.ts";
import { survivorText } from "./report.ts";
import { switchedSource } from "./switched-source.ts";
import { judge, type Verdict } from "./verdicts.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface MutationRun {
  readonly root: string;
  /** All mutants of the files that are mutated. */
  readonly mutants: readonly Mutant[];
  /** Those of them that are tried. */
  readonly chosen: readonly Mutant[];
  readonly testFiles: readonly string[];
  /** For the sources with their mutants. */
  readonly folder: string;
  readonly progress: (sentence: string) => void;
  /** How long tests are tried for one mutant: a mutant that many tests reach would meet all of them. */
  readonly budgetMs: number;
}

/** Runs the tests once without a mutant, and then against each chosen one. */
export async function runMutants(run: MutationRun): Promise<readonly Verdict[]> {
  const { chosen, progress } = run;
  const sources = writeSources(run);
  const workers = Array.from({ length: availableParallelism() }, () => new WorkerProcess(sources));
  try {
    const baseline = await recordBaseline(workers, run.testFiles);
    for (const failure of baseline.failed) progress(`left out, because it fails without any mutant: ${failure}`);
    const seconds = baseline.tests.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
    progress(`${baseline.tests.length} tests of ${run.testFiles.length} files take ${seconds.toFixed(1)} s`);
    const verdicts: Verdict[] = [];
    const waiting = chosen.toReversed();
    const testsOfFile = testsAround(run.root, run.mutants, baseline);
    const kills = new RecentKills();
    const work = async (worker: WorkerProcess) => {
      for (let mutant = waiting.pop(); mutant; mutant = waiting.pop()) {
        const verdict = await judge(mutant, worker, sources, baseline, testsOfFile, kills, run.budgetMs);
        verdicts.push(verdict);
        kills.note(verdict);
        // A run that is cut short has said what it found.
        if (verdict.outcome === "survived") progress(survivorText(verdict));
        if (verdicts.length % 100 > 0) continue;
        const survived = verdicts.filter(({ outcome }) => outcome !== "killed").length;
        progress(`${verdicts.length} of ${chosen.length} mutants, ${survived} not noticed`);
      }
    };
    await Promise.all(workers.map(work));
    return verdicts.sort((a, b) => a.mutant.id - b.mutant.id);
  } finally {
    for (const worker of workers) worker.stop();
  }
}

function writeSources({ root, mutants, folder }: MutationRun): string {
  const sources: Record<string, string> = {};
  for (const [file, ofFile] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    const path = join(root, file);
    sources[pathToFileURL(path).href] = switchedSource(readFileSync(path, "utf8"), ofFile);
  }
  const path = join(folder, "switched-sources.json");
  writeFileSync(path, JSON.stringify(sources));
  return path;
}
