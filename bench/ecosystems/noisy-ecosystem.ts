import { setTimeout as sleep } from "node:timers/promises";
import { ChildServer } from "./child-server.ts";
import type { Command, Reply } from "./noisy-ecosystem-process.ts";

/** In everyday life an account changes once a minute (`simulator/life.ts`). */
export const everydayMs = 60_000;

/** The simulator in a child process: one account for scenes, and many others that change on their own. */
export class NoisyEcosystem implements AsyncDisposable {
  readonly #process: ChildServer<Command, Reply>;

  private constructor(process: ChildServer<Command, Reply>) {
    this.#process = process;
  }

  static async start(): Promise<NoisyEcosystem> {
    return new NoisyEcosystem(await ChildServer.start<Command, Reply>("./noisy-ecosystem-process.ts"));
  }

  get url(): string {
    return this.#process.url;
  }

  /** Adds accounts and returns their tokens. The first account is the one for scenes. */
  async addAccounts(count: number): Promise<readonly string[]> {
    return (await this.#process.request({ kind: "accounts", count })).tokens;
  }

  /** Resolves when this number of streams is open. */
  async untilFollowed(streams: number): Promise<void> {
    for (;;) {
      const state = (await (await fetch(`${this.url}/simulator`)).json()) as { readonly streams: number };
      if (state.streams >= streams) return;
      await sleep(100);
    }
  }

  /** Sets the rate of changes in the other accounts, as a multiple of the everyday rate; 0 stops them. */
  async makeNoise(times: number): Promise<void> {
    await this.#process.request({ kind: "life", everyMs: times === 0 ? null : everydayMs / times });
  }

  /** Plays a scene in the first account and returns the time, in milliseconds since 1970. */
  async play(scene: string): Promise<number> {
    return (await this.#process.request({ kind: "scene", scene })).playedMs;
  }

  /** The number of changes in the other accounts so far. */
  async changes(): Promise<number> {
    return (await this.#process.request({ kind: "changes" })).changes;
  }

  /** Resolves when there were this many changes. */
  async untilChanged(times: number): Promise<void> {
    while ((await this.changes()) < times) await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
