import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export const root = new URL("../..", import.meta.url).pathname;

export interface InstalledSdk {
  /** The output of `npm pack`. */
  readonly tarball: string;
  /** An empty project in which the package is installed. */
  readonly project: string;
  /** Runs a program in the project and returns its output; a failure shows the output. */
  run(program: string, ...args: readonly string[]): Promise<string>;
}

/** Packs the SDK as for publishing, and installs it into an empty project without a network. */
export async function installedSdk(test: Pick<TestContext, "after">): Promise<InstalledSdk> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-sdk-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  // A copy, because packing builds, and other tests may build at the same time.
  const source = join(folder, "source");
  cpSync(join(root, "sdk"), source, { recursive: true, filter: (path) => !path.endsWith("/dist") });
  cpSync(join(root, "bin"), join(folder, "bin"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await runIn(source, "npm", "pack", "--pack-destination", folder, ...quiet);
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
  const project = mkdtempSync(join(tmpdir(), "breezeway-project-"));
  test.after(() => rmSync(project, { recursive: true, force: true }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  await runIn(project, "npm", "install", tarball, ...quiet);
  return { tarball, project, run: (program, ...args) => runIn(project, program, ...args) };
}

/** Copies files of the repository into the project. */
export function bring(project: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    const name = path.split("/").at(-1)!;
    mkdirSync(project, { recursive: true });
    cpSync(join(root, path), join(project, name), { recursive: true });
  }
}

async function runIn(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_TEST_|NODE_OPTIONS|npm_)/.test(name));
  const child = spawn(program, args, { cwd, env: Object.fromEntries(inherited), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${program} ${args.join(" ")}\n${output}`);
  return output;
}
