import { setTimeout as sleep } from "node:timers/promises";
import { ChildServer } from "./child-server.ts";
import { type Command, type Reply, tokenPrefix } from "./living-accounts.ts";

/** An ecosystem in a child process, with as many accounts as tokens are used. */
export class LivingEcosystem implements AsyncDisposable {
  readonly #process: ChildServer<Command, Reply>;

  private constructor(process: ChildServer<Command, Reply>) {
    this.#process = process;
  }

  /** It listens on this address of the loopback interface. */
  static async start(address: string): Promise<LivingEcosystem> {
    const process = await ChildServer.start<Command, Reply>("./living-ecosystem-process.ts", [address]);
    await process.request({ kind: "houses" });
    return new LivingEcosystem(process);
  }

  get url(): string {
    return this.#process.url;
  }

  static tokenOf(account: number): string {
    return `${tokenPrefix}${account}`;
  }

  async streams(): Promise<number> {
    return (await this.#process.request({ kind: "streams" })).streams;
  }

  /** Resolves when this number of streams is open. */
  async untilFollowed(streams: number, longestWaitMs: number): Promise<void> {
    const untilMs = performance.now() + longestWaitMs;
    for (;;) {
      const open = await this.streams();
      if (open === streams) return;
      if (performance.now() > untilMs) throw new Error(`${open} of ${streams} streams are open`);
      await sleep(250);
    }
  }

  /** From now on each followed account sends a snapshot at this interval on average; null: none. */
  async live(everyMs: number | null): Promise<void> {
    await this.#process.request({ kind: "live", everyMs });
  }

  /** The changes of shown fields since the last question, and the number of all snapshots. */
  sent(): Promise<Pick<Reply, "sent" | "snapshots">> {
    return this.#process.request({ kind: "sent" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
