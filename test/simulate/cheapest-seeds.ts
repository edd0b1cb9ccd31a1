import type { RunResult } from "./run.ts";

type Run = Pick<RunResult, "seed" | "steps" | "faults">;

/**
 * Few and short runs that together meet every kind that any of the runs met. Each round takes the run with the most
 * kinds that are still missing for its steps.
 */
export function cheapestSeeds(runs: readonly Run[]): readonly number[] {
  const missing = new Set(runs.flatMap(({ faults }) => Object.keys(faults)));
  const chosen: number[] = [];
  while (missing.size > 0) {
    const worth = (run: Run) => Object.keys(run.faults).filter((kind) => missing.has(kind)).length / run.steps;
    const best = runs.reduce((a, b) => (worth(b) > worth(a) ? b : a));
    for (const kind of Object.keys(best.faults)) missing.delete(kind);
    chosen.push(best.seed);
  }
  return chosen;
}
