import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeFlags } from "../set-up/node-flags.ts";

const root = new URL("../..", import.meta.url).pathname;

export interface CommandOptions {
  readonly environment?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  /** The folder of another version. */
  readonly tree?: string;
}

/** The command as a user runs it, in a process of its own. */
export function breezeway(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [join(options.tree ?? root, "bin/breezeway"), ...args], {
    cwd: options.cwd,
    env: cleanEnvironment(options.environment),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(options.input ?? "");
  return once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
}

/** A service in a process of its own, without the launcher between, so that a kill hits the service itself. */
export interface ChildService {
  readonly baseUrl: string;
  /** What it said before it was ready. */
  readonly said: string;
  readonly process: ChildProcess;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface ChildOptions {
  /** A module of the tests' own that the process runs first: it replaces an outer edge, such as the clock. */
  readonly preload?: URL | undefined;
  readonly cwd?: string | undefined;
  /** Where the sources are: another version's, perhaps. */
  readonly tree?: string | undefined;
}

export async function startChild(
  command: "serve" | "demo",
  environment: Record<string, string>,
  { preload, cwd, tree = root }: ChildOptions = {},
): Promise<ChildService> {
  const flags = [...nodeFlags(root), ...(preload ? ["--import", preload.href] : [])];
  const child = spawn(process.execPath, [...flags, join(tree, "src/main.ts"), command], {
    cwd,
    env: cleanEnvironment(environment),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
  let said = "";
  for await (const line of createInterface({ input: child.stderr! })) {
    const [, baseUrl] = /^breezeway listening on (\S+)$/.exec(line) ?? [];
    // What it logs from here on is drained, not read.
    if (baseUrl) return { baseUrl, said, process: child, ended };
    said += `${line}\n`;
  }
  throw new Error(`the service did not start (${await ended}):\n${said}`);
}

/** A port that somebody else listens on until the test ends. */
export async function takenPort(test: { after(act: () => void): void }): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

export function cleanEnvironment(environment: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BREEZEWAY_|NODE_TEST_|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(inherited), ...environment };
}
