import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeFlags } from "../test/set-up/node-flags.ts";
import type { Usage } from "./usage-reporter.ts";

/** Where services write their CPU profiles; none when undefined. */
let profileFolder: string | undefined;

/** From now on every service writes a CPU profile when it ends. */
export function profileServices(folder: string): void {
  profileFolder = folder;
}

const root = new URL("..", import.meta.url).pathname;

/** A server in a child process that reports its CPU time and memory. It ends with this process. */
export class MeasuredProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess, url: string) {
    this.url = url;
    this.#process = process;
    this.#ended = once(process, "exit");
  }

  /** `breezeway serve` with these settings. */
  static service(settings: Readonly<Record<string, string>>): Promise<MeasuredProcess> {
    const flags = profileFolder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
    return MeasuredProcess.#start(["src/main.ts", "serve"], settings, flags);
  }

  /** One of the programs in `bench/references`; the file is its argument. */
  static reference(name: string, answerFile: string): Promise<MeasuredProcess> {
    return MeasuredProcess.#start([`bench/references/${name}.ts`, answerFile], {});
  }

  /** Resolves when it listens. */
  static async #start(
    [program = "", ...rest]: readonly string[],
    settings: Readonly<Record<string, string>>,
    moreFlags: readonly string[] = [],
  ): Promise<MeasuredProcess> {
    const flags = [...nodeFlags(root), ...moreFlags, "--import", `${root}bench/usage-reporter.ts`];
    const inherited = Object.entries(process.env).filter(([name]) => !/^(BREEZEWAY_|NODE_OPTIONS)/.test(name));
    const child = spawn(process.execPath, [...flags, `${root}${program}`, ...rest], {
      env: { ...Object.fromEntries(inherited), ...settings },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let output = "";
    for await (const line of createInterface({ input: child.stderr! })) {
      const [, url] = /^(?:\S+Z )?(?:breezeway )?listening on (\S+)$/.exec(line) ?? [];
      if (url) {
        // Drain later log lines, so that the process never blocks on a full pipe.
        child.stderr!.resume();
        return new MeasuredProcess(child, url);
      }
      output += `${line}\n`;
    }
    throw new Error(`${program} did not start:\n${output}`);
  }

  async usage(): Promise<Usage> {
    const answer = once(this.#process, "message");
    this.#process.send("usage");
    const [usage] = await Promise.race([
      answer,
      this.#ended.then(() => Promise.reject(new Error("the measured process ended"))),
    ]);
    return usage as Usage;
  }

  /** The share of one core, in percent, that the process used in each slice of time. */
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
