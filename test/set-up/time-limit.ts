import { writeSync } from "node:fs";
import { relative } from "node:path";

/**
 * Preloaded into every test process of `npm test`. Tests that hang fail the run; without it the run would never end.
 * `MINUTES` makes some tests longer (CONTRIBUTING.md), and so their limit.
 */
const minutes = Number(process.env.TEST_MINUTES ?? 10) + Number(process.env.MINUTES ?? 0);
let timer: NodeJS.Timeout | undefined;

limitTime(relative(process.cwd(), process.argv[1] ?? ""));

/** Starts the time of `what` and ends that of the one before. When the time is over, the process prints what keeps it alive, and fails. */
export function limitTime(what: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(", ");
    writeSync(2, `${what} did not end within ${minutes} minutes. Still open: ${resources}\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
}

/**
 * Ends a process that has run all its tests and that something still keeps alive. The tests have passed or failed by
 * themselves: the leftover is reported, and does not hold up the run.
 */
export function endWithin(limitMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(", ");
    writeSync(2, `A test process has run all its files and is kept alive by: ${resources}\n`);
    process.exit();
  }, limitMs).unref();
}
