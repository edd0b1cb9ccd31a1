import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeFlags } from "../../set-up/node-flags.ts";
import { cleanEnvironment } from "../../stories/child-service.ts";
import { tree } from "./template.ts";

/** The service in a child process, observed from outside. */
export class ServiceUnderTest {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | string>;
  #exit: number | string | undefined;

  private constructor(process: ChildProcess, url: string, ended: Promise<number | string>) {
    this.#process = process;
    this.url = url;
    this.#ended = ended.then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  /** With `nameServer`, only that server resolves names: the process has its own mount namespace and resolv.conf. */
  static async start(settings: Readonly<Record<string, string>>, nameServer?: string): Promise<ServiceUnderTest> {
    const reporter = new URL("reporter.ts", import.meta.url).href;
    const flags = [...nodeFlags(tree), "--import", reporter];
    const command = [process.execPath, ...flags, join(tree, "src/main.ts"), "serve"];
    const wrapped = nameServer === undefined ? command : [...withNameServer(nameServer, settings), ...command];
    const child = spawn(wrapped[0]!, wrapped.slice(1), {
      env: cleanEnvironment({ ...settings }),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
    let output = "";
    for await (const line of createInterface({ input: child.stderr! })) {
      const [, url] = /^(?:\S+Z )?breezeway listening on (\S+)$/.exec(line) ?? [];
      if (url) {
        child.stderr!.resume();
        return new ServiceUnderTest(child, url, ended);
      }
      output += `${line}\n`;
    }
    throw new Error(`the service did not start (${await ended}):\n${output}`);
  }

  get isAlive(): boolean {
    return this.#exit === undefined;
  }

  /** Resolves with the exit code or the signal when the process has ended. */
  get ended(): Promise<number | string> {
    return this.#ended;
  }

  /** 0 when the process has ended, as are the next two. */
  get rssBytes(): number {
    if (!this.isAlive) return 0;
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#process.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1_024;
  }

  get descriptors(): number {
    if (!this.isAlive) return 0;
    return readdirSync(`/proc/${this.#process.pid}/fd`).length;
  }

  /** The active resources of its event loop: timers, sockets. */
  resources(): Promise<Readonly<Record<string, number>>> {
    return this.#ask("resources");
  }

  /** The bytes of live objects and buffers, and of the process, after a full garbage collection. */
  async liveMemory(): Promise<{ readonly heapBytes: number; readonly rssBytes: number }> {
    const { heapBytes = 0, rssBytes = 0 } = await this.#ask("heap");
    return { heapBytes, rssBytes };
  }

  /** Empty when the process has ended. */
  async #ask(question: "resources" | "heap"): Promise<Readonly<Record<string, number>>> {
    if (!this.isAlive) return {};
    const answer = once(this.#process, "message");
    this.#process.send(question, () => undefined);
    const [reply = {}] = await Promise.race([answer, this.#ended.then(() => [])]);
    return reply;
  }

  /** How often each limit was reached; empty if the service does not count it. */
  async limitsReached(): Promise<Readonly<Record<string, number>>> {
    const answer = await fetch(`${this.url}/metrics`).catch(() => new Response());
    const lines = (await answer.text()).matchAll(/^breezeway_limit_reached_total\{limit="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...lines].map(([, limit, count]) => [limit!, Number(count)]));
  }

  /** Returns the exit code, or the signal; 0 after a graceful stop. */
  async stop(): Promise<number | string> {
    const impatience = setTimeout(() => this.#process.kill("SIGKILL"), 60_000);
    this.#process.kill("SIGTERM");
    const exit = await this.#ended;
    clearTimeout(impatience);
    return exit;
  }
}

function withNameServer(nameServer: string, settings: Readonly<Record<string, string>>): readonly string[] {
  const file = join(settings.BREEZEWAY_DATA!, "resolv.conf");
  writeFileSync(file, `nameserver ${nameServer}\noptions timeout:5 attempts:2\n`);
  return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', file];
}
