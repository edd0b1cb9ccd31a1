import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asked, House, Telling, Told } from "./told-ecosystem-process.ts";

/** An ecosystem in a process of its own that says what it is told to. It ends with this process. */
export class ToldEcosystem implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.#ended = once(process, "exit");
  }

  static async start(): Promise<ToldEcosystem> {
    const program = new URL("./told-ecosystem-process.ts", import.meta.url);
    const child = fork(program, { execArgv: ["--disable-warning=ExperimentalWarning"] });
    const [{ url }] = (await once(child, "message")) as [Told];
    return new ToldEcosystem(child, url);
  }

  async addAccounts(count: number, house: House): Promise<Pick<Told, "tokens" | "bytes">> {
    return this.#ask({ ask: "accounts", count, house });
  }

  /** Resolves when so many accounts are followed by that reader. */
  async untilFollowed(reader: string, count: number): Promise<void> {
    while ((await this.#ask({ ask: "streams", reader })).streams < count) await sleep(50);
  }

  /** Resolves when all has been sent, and there was as much time after the last wave as after each. */
  async tell(telling: Telling): Promise<void> {
    await this.#ask({ ask: "tell", ...telling });
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
      this.#ended.then(() => Promise.reject(new Error("the ecosystem's process ended"))),
    ]);
    return told as Told;
  }
}
