import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Baseline } from "./baseline.ts";
import type { Mutant } from "./mutants.ts";
import type { RecordedTest } from "./orders.ts";

/**
 * The tests that may notice another value of a constant of a file: those that run code of the file, those that run code
 * of a file that imports it, and those of the test files that import it. The switches can't tell which tests read it.
 */
export function testsAround(
  root: string,
  mutants: readonly Mutant[],
  { tests, testsOf }: Baseline,
): (file: string) => readonly RecordedTest[] {
  const byFile = new Map<string, Set<RecordedTest>>();
  const add = (file: string, all: Iterable<RecordedTest>) =>
    byFile.set(file, new Set([...(byFile.get(file) ?? []), ...all]));
  for (const { id, file } of mutants) add(file, testsOf.get(id) ?? []);
  for (const test of tests) add(test.file, [test]);
  const importers = new Map<string, string[]>();
  for (const file of byFile.keys()) {
    for (const imported of importsOf(root, file)) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  }
  return (file) => {
    const files = [file, ...(importers.get(file) ?? [])];
    return [...new Set(files.flatMap((each) => [...(byFile.get(each) ?? [])]))];
  };
}

function importsOf(root: string, file: string): readonly string[] {
  const imports = readFileSync(join(root, file), "utf8").matchAll(/^(?:import|export|\}) .*?from "(\.[^"]+)";$/gm);
  return [...imports].map(([, path = ""]) => normalize(join(dirname(file), path)));
}
