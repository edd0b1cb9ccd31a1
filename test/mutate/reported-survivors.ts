import type { Mutant } from "./mutants.ts";

const survivor = /^(?<file>\S+\.ts):\d+ {2}(?:survived|no test runs this) {2}\((?<operator>.+) in (?<around>\S+)\)$/;

/**
 * The mutants that the report of an earlier run names as survivors. Lines may have moved since: a mutant is named by its
 * function and its change, as an argued one is.
 */
export function reportedSurvivors(report: string, mutants: readonly Mutant[]): readonly Mutant[] {
  const lines = report.split("\n");
  const named = new Set<string>();
  for (const [at, line] of lines.entries()) {
    const found = survivor.exec(line)?.groups;
    if (!found) continue;
    const { file, operator, around } = found;
    named.add([file, around, operator, lines[at + 1]?.slice(4), lines[at + 2]?.slice(4)].join("\n"));
  }
  return mutants.filter(({ file, function: around, operator, before, after }) =>
    named.has([file, around, operator, before, after].join("\n")),
  );
}
