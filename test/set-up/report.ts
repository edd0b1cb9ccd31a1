import { relative } from "node:path";
import type { run } from "node:test";
import { unfinishedFiles } from "./file-queue.ts";

interface Timed {
  readonly what: string;
  readonly ms: number;
}

/** Counts and times the tests of a run, for what is printed at its end. */
export function reportOf(
  stream: ReturnType<typeof run>,
  how: { readonly root: string; readonly queue: string; readonly isSkipFailure: boolean },
): { print(): boolean } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const tests: Timed[] = [];
  const fileMs = new Map<string, number>();
  stream.on("test:pass", ({ name, file = "", skip, todo, details }) => {
    if (details.type === "suite") return;
    if (skip !== undefined || todo !== undefined) counts.skipped += 1;
    else counts.passed += 1;
    const where = relative(how.root, file);
    tests.push({ what: `${name}  (${where})`, ms: details.duration_ms });
    fileMs.set(where, (fileMs.get(where) ?? 0) + details.duration_ms);
  });
  stream.on("test:fail", ({ details }) => {
    // A suite fails with its tests, which are counted, or on its own: its file can't be loaded, or a hook failed.
    const { failureType } = details.error as { readonly failureType?: string };
    if (details.type !== "suite" || failureType !== "subtestsFailed") counts.failed += 1;
  });
  return {
    /** Prints the slowest tests and files and the counts. True: all is well. */
    print() {
      printSlowest("tests", tests);
      printSlowest(
        "files",
        [...fileMs].map(([what, ms]) => ({ what, ms })),
      );
      const { interrupted, neverStarted } = unfinishedFiles(how.queue);
      for (const file of interrupted) print(`\n${file} failed: its process ended before its tests did.`);
      for (const file of neverStarted) print(`\n${file} failed: no process was left to run it.`);
      // A process that dies is a failed test for Node: the count has it, but for one that ended with exit code 0.
      const isRefused = how.isSkipFailure && counts.skipped > 0;
      if (isRefused) print("\nWith CI=true a skipped test is a failure.");
      print(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
      const isComplete = interrupted.length === 0 && neverStarted.length === 0;
      return isComplete && counts.failed === 0 && counts.passed > 0 && !isRefused;
    },
  };
}

function printSlowest(kind: string, timed: readonly Timed[]): void {
  print(`\nThe slowest ${kind}:`);
  for (const { what, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, 20)) {
    print(`${(ms / 1000).toFixed(2).padStart(8)} s  ${what}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
