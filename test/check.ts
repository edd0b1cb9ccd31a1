import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

/**
 * `npm run check`: types, lint with the arrows, format, and the fast tests, all at once.
 * `npm run format` (--fix) writes the arrows' rules and repairs what can be repaired.
 */
const root = new URL("..", import.meta.url).pathname;
const bin = (name: string) => `${root}node_modules/.bin/${name}`;
const typesFile = `${root}node_modules/.cache/types.tsbuildinfo`;
const fastTests = "fast tests";
const isFixing = process.argv.includes("--fix");

const steps: readonly (readonly [name: string, command: string, args: readonly string[]])[] = isFixing
  ? [
      ["arrows", process.execPath, ["--disable-warning=ExperimentalWarning", "biome/write-rules.ts"]],
      ["format", bin("biome"), ["check", "--write", "."]],
    ]
  : [
      // What is known of files that have not changed is kept beside the packages. One checker: each of several would work
      // out many types again.
      [
        "types",
        bin("tsc"),
        ["--noEmit", "-p", ".", "--checkers", "1", "--incremental", "--tsBuildInfoFile", typesFile],
      ],
      ["types of browser scripts", bin("tsc"), ["--noEmit", "-p", "src/outlets/console/browser"]],
      ["lint, format, arrows", bin("biome"), ["ci", "--error-on-warnings", "."]],
      [fastTests, process.execPath, ["--disable-warning=ExperimentalWarning", "test/run.ts", "fast"]],
    ];

const results: boolean[] = [];
if (isFixing) for (const step of steps) results.push(await runStep(step));
else results.push(...(await Promise.all(steps.map(runStep))));
process.exitCode = results.every((isGood) => isGood) ? 0 : 1;

async function runStep([name, command, args]: (typeof steps)[number]): Promise<boolean> {
  const startedMs = performance.now();
  // The compiler is a Go program. With more memory between its garbage collections it takes two thirds of the CPU.
  const env = { GOGC: "400", ...process.env };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  // The tests run one after the other and take longest. The other steps get what the tests leave of the cores.
  if (name !== fastTests && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? "ok    " : "FAILED"}  ${name}  (${seconds} s)\n`);
  if (code !== 0) process.stdout.write(`${output}\n`);
  return code === 0;
}
