import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "./usage-reporter.ts";

const root = new URL("..", import.meta.url).pathname;

/** `breezeway serve` in a process of its own that tells how much it uses. It ends when this process ends. */
export class MeasuredService implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#ended = once(process, "exit");
  }

  /** Resolves when it listens. */
  static async start(settings: Readonly<Record<string, string>>): Promise<MeasuredService> {
    const flags = ["--disable-warning=ExperimentalWarning", "--import", `${root}bench/usage-reporter.ts`];
    const inherited = Object.entries(process.env).filter(([name]) => !/^(BREEZEWAY_|NODE_OPTIONS)/.test(name));
    const child = spawn(process.execPath, [...flags, `${root}src/main.ts`, "serve"], {
      env: { ...Object.fromEntries(inherited), ...settings },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const service = new MeasuredService(child);
    let said = "";
    for await (const line of createInterface({ input: child.stderr! })) {
      // What it logs from here on is drained, not read.
      if (line.startsWith("breezeway listening on ")) {
        child.stderr!.resume();
        return service;
      }
      said += `${line}\n`;
    }
    throw new Error(`the service did not start:\n${said}`);
  }

  async usage(): Promise<Usage> {
    const answer = once(this.#process, "message");
    this.#process.send("usage");
    const [usage] = await Promise.race([
      answer,
      this.#ended.then(() => Promise.reject(new Error("the service ended"))),
    ]);
    return usage as Usage;
  }

  /** The share of one core, in percent, that it used in each of so many slices of time. */
  async cpuShares(slices: number, sliceMs: number): Promise<readonly number[]> {
    const shares: number[] = [];
    let before = { ...(await this.usage()), atMs: performance.now() };
    for (let i = 0; i < slices; i++) {
      await sleep(sliceMs);
      const now = { ...(await this.usage()), atMs: performance.now() };
      shares.push((100 * (now.cpuMs - before.cpuMs)) / (now.atMs - before.atMs));
      before = now;
    }
    return shares;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }
}
