import { spawn } from "node:child_process";
import { once } from "node:events";
import { nodeFlags } from "./node-flags.ts";

/** What services in child processes load, and what the tests' own processes load. */
const modules = [
  "src/entry-points.ts",
  "src/service/service.ts",
  "src/runtime/process/log.ts",
  "src/runtime/process/uncaught-errors.ts",
  "src/cli/program.ts",
  "demo/demo.ts",
  "simulator/main.ts",
];

/**
 * Fills Node's compile cache. A process that is killed writes nothing to the cache, and tests kill most of the services
 * that they start: each would compile all modules again, twice the CPU of a start. The cache depends on V8's flags, so
 * that it is filled with those of the service and with those of the test processes.
 */
export async function fillCompileCache(root: string): Promise<void> {
  const imports = modules.map((module) => `await import(${JSON.stringify(new URL(module, `file://${root}`))});`);
  const program = `${imports.join("\n")}\n(await import("node:module")).flushCompileCache();process.exit();`;
  const flagSets = [nodeFlags(root), ["--disable-warning=ExperimentalWarning"]];
  await Promise.all(
    flagSets.map((flags) =>
      once(spawn(process.execPath, [...flags, "--input-type=module", "-e", program], { stdio: "inherit" }), "exit"),
    ),
  );
}
