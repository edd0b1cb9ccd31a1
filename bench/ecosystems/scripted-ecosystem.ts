import { setTimeout as sleep } from "node:timers/promises";
import { ChildServer } from "./child-server.ts";
import type { Command, House, Playback, Reply, Streaming } from "./scripted-ecosystem-process.ts";

/** An ecosystem in a child process that plays prepared snapshots. */
export class ScriptedEcosystem implements AsyncDisposable {
  readonly #process: ChildServer<Command, Reply>;

  private constructor(process: ChildServer<Command, Reply>) {
    this.#process = process;
  }

  static async start(): Promise<ScriptedEcosystem> {
    return new ScriptedEcosystem(await ChildServer.start<Command, Reply>("./scripted-ecosystem-process.ts"));
  }

  get url(): string {
    return this.#process.url;
  }

  async addAccounts(count: number, house: House): Promise<Pick<Reply, "tokens" | "bytes">> {
    return this.#process.request({ kind: "accounts", count, house });
  }

  /** Resolves when the reader follows this many accounts. */
  async untilFollowed(reader: string, count: number): Promise<void> {
    while ((await this.#process.request({ kind: "streams", reader })).streams < count) await sleep(50);
  }

  /** Resolves one interval after the last wave was sent. */
  async play(playback: Playback): Promise<void> {
    await this.#process.request({ kind: "play", ...playback });
  }

  /** Resolves when the last snapshot was sent. */
  async stream(streaming: Streaming): Promise<void> {
    await this.#process.request({ kind: "stream", ...streaming });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
