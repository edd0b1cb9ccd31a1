import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import { dot, spec } from "node:test/reporters";
import { ensureCheapChromium } from "./set-up/chromium.ts";
import { fillCompileCache } from "./set-up/compile-cache.ts";
import { createQueue, queueVariable } from "./set-up/file-queue.ts";
import { ensurePostgres, ensurePostgresWithPrograms } from "./set-up/installed-postgres.ts";
import { needsOwnProcess } from "./set-up/own-process.ts";
import { prepareCluster } from "./set-up/postgres.ts";
import { reportOf } from "./set-up/report.ts";
import { selectFiles } from "./set-up/selection.ts";
import { useTemporaryFolder } from "./set-up/temporary-folder.ts";

/**
 * Runs the tests: `npm test`, `npm run test:all`, `npm run foreign`, `npm run faults` and the tests of `npm run check`
 * (`set-up/selection.ts`). It sets up what they need. Most test files share a few processes; the files of
 * `set-up/own-process.ts` and the long suites have one each.
 */
const root = new URL("..", import.meta.url).pathname;
const args = process.argv.slice(2);
const { extent, files } = selectFiles(args, root);
/** For fewer files than this, filling the compile cache costs more than it saves. */
const fewFiles = 30;
if (files.length === 0) {
  process.stderr.write(`No test file matches ${args.join(" ")}.\n`);
  process.exit(2);
}
if (extent === "fast") process.env.TEST_WITHOUT_POSTGRES = "true";
else await setUpServers();
useTemporaryFolder();
if (extent === "spread") process.env.SPREAD = "true";
if (extent === "all") process.env.TEST_ALL = "true";
if (extent === "foreign") process.env.TEST_FOREIGN = "true";

// Tests also wait: with two processes more than cores, the cores are hardly ever idle. The fast tests hardly wait, and
// each process loads all modules: one process leaves a core to the other steps of `npm run check`.
const concurrency = extent === "fast" ? 1 : availableParallelism() + 2;
const isUnlimited = extent === "faults" || extent === "spread";
const isAlone = (file: string) => isUnlimited || needsOwnProcess(file);
const shared = files.filter((file) => !isAlone(file));
const queue = createQueue(shared);
process.env[queueVariable] = queue;
const sharedProcesses = Array(Math.min(concurrency, shared.length)).fill("test/set-up/shared-process.ts");
const stream = run({
  cwd: root,
  // The shared processes come last: they divide what is left among them, so that all end at about the same time.
  files: [...files.filter(isAlone), ...sharedProcesses],
  concurrency,
  execArgv: [...preload("light-test-runner.ts"), ...(isUnlimited ? [] : preload("time-limit.ts"))],
  ...(extent === "spread" && { testNamePatterns: [/three nodes/] }),
});
const report = reportOf(stream, { root, queue, isSkipFailure: process.env.CI === "true" && extent !== "fast" });
stream.compose(extent === "fast" ? dot : spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

function preload(file: string): readonly string[] {
  return ["--import", new URL(`set-up/${file}`, import.meta.url).href];
}

function finish(): void {
  process.exitCode = report.print() ? 0 : 1;
}

/** With CI=true everything must be there; otherwise the tests of a program that is missing are skipped. */
async function setUpServers(): Promise<void> {
  // It fills the cache in processes of its own, while this one waits for apt-get.
  const filled = files.length > fewFiles ? fillCompileCache(root) : undefined;
  for (const ensure of [ensurePostgres, ensurePostgresWithPrograms, ensureCheapChromium]) {
    try {
      ensure();
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
      if (process.env.CI === "true" || ensure === ensurePostgres) process.exit(1);
    }
  }
  const fetchPromtool = new URL("set-up/fetch-promtool.ts", import.meta.url).pathname;
  if (files.length > fewFiles) spawn(process.execPath, [...process.execArgv, fetchPromtool], { stdio: "inherit" });
  // Before the temporary folder changes: the server removes its own folder after this process has ended.
  await Promise.all([prepareCluster(), filled]);
}
