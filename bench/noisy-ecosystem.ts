import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asked, Told } from "./noisy-ecosystem-process.ts";

/** Everyday life brings one change a minute and account (`simulator/life.ts`). */
export const everydayMs = 60_000;

/** The simulator in a process of its own, so that its load isn't that of whoever measures. It ends with this process. */
export class NoisyEcosystem implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.#ended = once(process, "exit");
  }

  static async start(): Promise<NoisyEcosystem> {
    const program = new URL("./noisy-ecosystem-process.ts", import.meta.url);
    const child = fork(program, { execArgv: ["--disable-warning=ExperimentalWarning"] });
    const [{ url }] = (await once(child, "message")) as [Told];
    return new NoisyEcosystem(child, url);
  }

  /** Adds so many accounts and answers their tokens; the first is the one that burns. */
  async addAccounts(count: number): Promise<readonly string[]> {
    return (await this.#ask({ ask: "accounts", count })).tokens;
  }

  /** Resolves when so many streams are open. */
  async untilFollowed(streams: number): Promise<void> {
    for (;;) {
      const state = (await (await fetch(`${this.url}/simulator`)).json()) as { readonly streams: number };
      if (state.streams >= streams) return;
      await sleep(100);
    }
  }

  /** All others from now on: so many times their everyday pace, or nothing at all. */
  async makeNoise(times: number): Promise<void> {
    await this.#ask({ ask: "life", everyMs: times === 0 ? null : everydayMs / times });
  }

  /** Plays a scene in the account that burns and answers when, in milliseconds since 1970. */
  async play(scene: string): Promise<number> {
    return (await this.#ask({ ask: "scene", scene })).playedMs;
  }

  /** How often something has changed in the other accounts. */
  async changes(): Promise<number> {
    return (await this.#ask({ ask: "changes" })).changes;
  }

  /** Resolves when it has been so often. */
  async untilChanged(times: number): Promise<void> {
    while ((await this.changes()) < times) await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }

  /** One question at a time. */
  async #ask(asked: Asked): Promise<Told> {
    const answered = once(this.#process, "message");
    this.#process.send(asked);
    const [told] = await Promise.race([
      answered,
      this.#ended.then(() => Promise.reject(new Error("the simulator's process ended"))),
    ]);
    return told as Told;
  }
}
