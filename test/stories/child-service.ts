import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../set-up/free-port.ts";
import { nodeFlags } from "../set-up/node-flags.ts";

const root = new URL("../..", import.meta.url).pathname;

export interface CommandOptions {
  readonly environment?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  /** The folder of another version's checkout. */
  readonly tree?: string;
}

/** Runs the command in a child process, through the launcher, as a user does. `runCommand` costs a tenth of it. */
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

/** A service in a child process without the launcher, so that a signal reaches the service itself. */
export interface ChildService {
  readonly baseUrl: string;
  /** What the process printed to standard error before it was ready. */
  readonly output: string;
  readonly process: ChildProcess;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface ChildOptions {
  /** A test module that the process loads first, to replace an outer edge such as the clock. */
  readonly preload?: URL | undefined;
  readonly cwd?: string | undefined;
  /** The folder of the sources; by default this checkout. */
  readonly tree?: string | undefined;
  /** Options of the command. */
  readonly args?: readonly string[];
}

export async function startChild(
  command: "serve" | "demo",
  environment: Record<string, string>,
  { preload, cwd, tree = root, args = [] }: ChildOptions = {},
): Promise<ChildService> {
  const flags = [...nodeFlags(root), ...(preload ? ["--import", preload.href] : [])];
  const child = spawn(process.execPath, [...flags, join(tree, "src/main.ts"), command, ...args], {
    cwd,
    env: cleanEnvironment({ ...environment, ...(await portFor(environment)) }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
  let output = "";
  for await (const line of createInterface({ input: child.stderr! })) {
    const [, baseUrl] = /^(?:\S+Z )?breezeway listening on (\S+)$/.exec(line) ?? [];
    // The rest of standard error is drained and ignored.
    if (baseUrl) return { baseUrl, output, process: child, ended };
    output += `${line}\n`;
  }
  throw new Error(`the service did not start (${await ended}):\n${output}`);
}

/** For port 0 a port that no other program is given while a killed service is started again on it. */
async function portFor({ BREEZEWAY_PORT }: Record<string, string>): Promise<Record<string, string>> {
  return BREEZEWAY_PORT === "0" ? { BREEZEWAY_PORT: String(await freePort()) } : {};
}

/** A port on which another server listens until the test ends. */
export async function takenPort(test: { after(act: () => void): void }, answer?: string): Promise<number> {
  const server = createServer((socket) => {
    if (answer !== undefined) socket.end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

export function cleanEnvironment(environment: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(BREEZEWAY_|NODE_TEST_|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(inherited), ...environment };
}
