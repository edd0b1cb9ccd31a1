import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { ensureChromium } from "./set-up/chromium.ts";
import { createQueue } from "./set-up/file-queue.ts";
import { ensureNginx } from "./set-up/nginx.ts";
import { needsOwnProcess } from "./set-up/own-process.ts";
import { ensurePostgres, prepareCluster } from "./set-up/postgres.ts";
import { ensurePromtool } from "./set-up/promtool.ts";
import { reportOf } from "./set-up/report.ts";
import { useTemporaryFolder } from "./set-up/temporary-folder.ts";

/**
 * `npm test` runs what CI runs; `npm run test:all` the same with all databases and rounds; `npm run faults` the long
 * suites, and `npm run faults -- spread` every story on three nodes, with each request to any of them; names of files or
 * folders narrow all of them.
 * It sets up what the tests need. Most test files share a few processes; those of `set-up/own-process.ts` and the long
 * suites have one each.
 */
const root = new URL("..", import.meta.url).pathname;
const isAll = process.argv[2] === "all";
const wanted = process.argv.slice(isAll ? 3 : 2);
const isFaults = wanted[0] === "faults";
const isSpread = isFaults && wanted[1] === "spread";
const narrowed = wanted.slice(isSpread ? 2 : isFaults ? 1 : 0);
const stories = "test/{stories,oauth,events}/**/*.test.ts";
const suites = isSpread ? stories : isFaults ? "test/faults/**/*.test.ts" : "test/**/*.test.ts";
const files = globSync(suites, { cwd: root })
  .filter((file) => isFaults || !file.startsWith("test/faults/"))
  .filter((file) => narrowed.length === 0 || narrowed.some((name) => file.includes(name)))
  .sort((a, b) => Number(isLong(b)) - Number(isLong(a)) || (a < b ? -1 : 1));
if (files.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(" ") || suites}\n`);
  process.exit(2);
}
try {
  ensurePostgres();
  ensureChromium();
  ensureNginx();
  ensurePromtool();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}

// Its folder is outside the temporary one: the server removes it after this process has ended, however that ends.
await prepareCluster();
useTemporaryFolder();
// Test processes load hundreds of modules each: they share what V8 has compiled.
process.env.NODE_COMPILE_CACHE = join(process.env.TMPDIR ?? "", "compiled");
if (isSpread) process.env.SPREAD = "true";
if (isAll) process.env.TEST_ALL = "true";

const concurrency = availableParallelism() + 1;
const isAlone = (file: string) => (isFaults && !isSpread) || needsOwnProcess(file);
const shared = files.filter((file) => !isAlone(file));
createQueue(shared);
const sharedProcesses = Array(Math.min(concurrency, shared.length)).fill("test/set-up/shared-process.ts");
const stream = run({
  cwd: root,
  // The shared processes come last: they divide what is left among them, so that all end at about the same time.
  files: [...files.filter(isAlone), ...sharedProcesses],
  concurrency,
  ...(!isFaults && { execArgv: ["--import", new URL("set-up/time-limit.ts", import.meta.url).href] }),
  ...(isSpread && { testNamePatterns: [/three nodes/] }),
});
const report = reportOf(stream, root);
stream.compose(spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

/** Long files start first: a run should not end with one of them on its own. */
function isLong(file: string): boolean {
  const folders = ["test/browser/", "test/documents/", "test/isolation/", "test/simulate/"];
  return (
    folders.some((folder) => file.startsWith(folder)) ||
    /stories\/(hard-times|indexes|random|fan-requests|kill)/.test(file)
  );
}

function finish(): void {
  process.exitCode = report.print() ? 0 : 1;
}
