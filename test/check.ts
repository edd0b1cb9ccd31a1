import { spawn } from "node:child_process";

/**
 * `npm run check`: types, lint with the arrows, format, and the fast tests, all at once.
 * `npm run format` (--fix) writes the arrows' rules and repairs what can be repaired.
 */
const root = new URL("..", import.meta.url).pathname;
const bin = (name: string) => `${root}node_modules/.bin/${name}`;
const typesFile = `${root}node_modules/.cache/types.tsbuildinfo`;
const isFixing = process.argv.includes("--fix");

const steps: readonly (readonly [name: string, command: string, args: readonly string[]])[] = isFixing
  ? [
      ["arrows", process.execPath, ["--disable-warning=ExperimentalWarning", "biome/write-rules.ts"]],
      ["format", bin("biome"), ["check", "--write", "."]],
    ]
  : [
      // What is known of files that have not changed is kept beside the packages.
      ["types", bin("tsc"), ["--noEmit", "-p", ".", "--incremental", "--tsBuildInfoFile", typesFile]],
      ["types of browser scripts", bin("tsc"), ["--noEmit", "-p", "src/outlets/console/browser"]],
      ["lint, format, arrows", bin("biome"), ["check", "--error-on-warnings", "."]],
      ["fast tests", process.execPath, ["--disable-warning=ExperimentalWarning", "test/run.ts", "fast"]],
    ];

const results: boolean[] = [];
if (isFixing) for (const step of steps) results.push(await runStep(step));
else results.push(...(await Promise.all(steps.map(runStep))));
process.exitCode = results.every((isGood) => isGood) ? 0 : 1;

async function runStep([name, command, args]: (typeof steps)[number]): Promise<boolean> {
  const startedMs = performance.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
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
