import { setTimeout as sleep } from "node:timers/promises";
import { AskedProcess } from "./asked-process.ts";
import type { Asked, House, Telling, Told } from "./told-ecosystem-process.ts";

/** An ecosystem in a process of its own that says what it is told to. */
export class ToldEcosystem implements AsyncDisposable {
  readonly #process: AskedProcess<Asked, Told>;

  private constructor(process: AskedProcess<Asked, Told>) {
    this.#process = process;
  }

  static async start(): Promise<ToldEcosystem> {
    return new ToldEcosystem(await AskedProcess.start<Asked, Told>("./told-ecosystem-process.ts"));
  }

  get url(): string {
    return this.#process.url;
  }

  async addAccounts(count: number, house: House): Promise<Pick<Told, "tokens" | "bytes">> {
    return this.#process.ask({ ask: "accounts", count, house });
  }

  /** Resolves when so many accounts are followed by that reader. */
  async untilFollowed(reader: string, count: number): Promise<void> {
    while ((await this.#process.ask({ ask: "streams", reader })).streams < count) await sleep(50);
  }

  /** Resolves when all has been sent, and there was as much time after the last wave as after each. */
  async tell(telling: Telling): Promise<void> {
    await this.#process.ask({ ask: "tell", ...telling });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
