import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { bring, installedSdk, root } from "../sdk/installed-sdk.ts";

/** An example as its reader runs it: its files, unchanged, in a project that has installed the packed SDK. */
export async function installedExample(test: TestContext, name: string, files: readonly string[]) {
  const { project, run } = await installedSdk(test);
  bring(project, ...files.map((file) => `examples/${name}/${file}`));
  const sources = files.filter((file) => file.endsWith(".ts"));
  const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node", "--skipLibCheck"];
  const compiled = ["--module", "nodenext", "--target", "es2024", "--allowImportingTsExtensions", "--noEmit"];
  await run(
    process.execPath,
    join(root, "node_modules/typescript/bin/tsc"),
    "--strict",
    ...compiled,
    ...types,
    ...sources,
  );
  return {
    start: (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      start(test, project, environment, args),
  };
}

/** A program that says what it does, line by line. */
async function start(
  test: TestContext,
  cwd: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  test.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const said: string[] = [];
  return {
    /** Types a line into its standard input. */
    hears: (line: string) => void child.stdin.write(`${line}\n`),
    /** The next line that matches; those before it are passed over. */
    async says(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) assert.fail(`it ended without saying ${pattern}:\n${said.join("\n")}`);
        said.push(value);
        const found = pattern.exec(value);
        if (found) return found;
      }
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
