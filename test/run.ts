import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { ensureChromium } from "./set-up/chromium.ts";
import { ensureNginx } from "./set-up/nginx.ts";
import { ensurePostgres, prepareCluster } from "./set-up/postgres.ts";
import { ensurePromtool } from "./set-up/promtool.ts";
import { useTemporaryFolder } from "./set-up/temporary-folder.ts";

/**
 * `npm test` runs what CI runs; `npm run test:all` the same with all databases and rounds; `npm run faults` the long
 * suites, and `npm run faults -- spread` every story on three nodes, with each request to any of them; names of files or
 * folders narrow all of them.
 * It sets up what the tests need, prints the 20 slowest tests and files, and with CI=true a skipped test counts as a
 * failure.
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
const counts = { passed: 0, failed: 0, skipped: 0 };
const durations: { readonly name: string; readonly file: string; readonly ms: number }[] = [];
const stream = run({
  cwd: root,
  files,
  concurrency: availableParallelism() + 1,
  ...(!isFaults && { execArgv: ["--import", new URL("set-up/time-limit.ts", import.meta.url).href] }),
  ...(isSpread && { testNamePatterns: [/three nodes/] }),
});
stream.on("test:pass", ({ name, file, skip, todo, details }) => {
  if (details.type === "suite") return;
  if (skip !== undefined || todo !== undefined) counts.skipped += 1;
  else counts.passed += 1;
  durations.push({ name, file: file ?? "", ms: details.duration_ms });
});
stream.on("test:fail", ({ details }) => {
  if (details.type !== "suite") counts.failed += 1;
});
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
  const fileMs = new Map<string, number>();
  for (const { file, ms } of durations) fileMs.set(file, (fileMs.get(file) ?? 0) + ms);
  const tests = durations.map(({ name, file, ms }) => ({ what: `${name}  (${relative(root, file)})`, ms }));
  tellSlowest("tests", tests);
  tellSlowest(
    "files",
    [...fileMs].map(([file, ms]) => ({ what: relative(root, file), ms })),
  );
  const isSkipFailure = process.env.CI === "true" && counts.skipped > 0;
  if (isSkipFailure) process.stdout.write("\nWith CI=true a skipped test is a failure.\n");
  process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  // A file that fails to load, or whose process dies, is a failed test of its own: the count has it.
  process.exitCode = counts.failed > 0 || isSkipFailure || counts.passed === 0 ? 1 : 0;
}

function tellSlowest(kind: string, timed: readonly { readonly what: string; readonly ms: number }[]): void {
  process.stdout.write(`\nThe slowest ${kind}:\n`);
  for (const { what, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, 20)) {
    process.stdout.write(`${(ms / 1000).toFixed(2).padStart(8)} s  ${what}\n`);
  }
}
