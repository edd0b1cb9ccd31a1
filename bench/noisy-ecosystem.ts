import { setTimeout as sleep } from "node:timers/promises";
import { AskedProcess } from "./asked-process.ts";
import type { Asked, Told } from "./noisy-ecosystem-process.ts";

/** Everyday life brings one change a minute and account (`simulator/life.ts`). */
export const everydayMs = 60_000;

/** The simulator in a process of its own. */
export class NoisyEcosystem implements AsyncDisposable {
  readonly #process: AskedProcess<Asked, Told>;

  private constructor(process: AskedProcess<Asked, Told>) {
    this.#process = process;
  }

  static async start(): Promise<NoisyEcosystem> {
    return new NoisyEcosystem(await AskedProcess.start<Asked, Told>("./noisy-ecosystem-process.ts"));
  }

  get url(): string {
    return this.#process.url;
  }

  /** Adds so many accounts and answers their tokens; the first is the one that burns. */
  async addAccounts(count: number): Promise<readonly string[]> {
    return (await this.#process.ask({ ask: "accounts", count })).tokens;
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
    await this.#process.ask({ ask: "life", everyMs: times === 0 ? null : everydayMs / times });
  }

  /** Plays a scene in the account that burns and answers when, in milliseconds since 1970. */
  async play(scene: string): Promise<number> {
    return (await this.#process.ask({ ask: "scene", scene })).playedMs;
  }

  /** How often something has changed in the other accounts. */
  async changes(): Promise<number> {
    return (await this.#process.ask({ ask: "changes" })).changes;
  }

  /** Resolves when it has been so often. */
  async untilChanged(times: number): Promise<void> {
    while ((await this.changes()) < times) await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
