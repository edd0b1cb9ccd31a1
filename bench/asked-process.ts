import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A server in a process of its own, so that its load isn't that of whoever measures. It ends with this process. */
export class AskedProcess<Asked extends object, Told> implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.#ended = once(process, "exit");
  }

  /** The program tells its address in its first message, and answers each question with one. */
  static async start<Asked extends object, Told>(program: string): Promise<AskedProcess<Asked, Told>> {
    const flags = { execArgv: ["--disable-warning=ExperimentalWarning"] };
    const child = fork(new URL(program, import.meta.url), flags);
    const [{ url }] = (await once(child, "message")) as [{ readonly url: string }];
    return new AskedProcess(child, url);
  }

  /** One question at a time. */
  async ask(asked: Asked): Promise<Told> {
    const answered = once(this.#process, "message");
    this.#process.send(asked);
    const [told] = await Promise.race([
      answered,
      this.#ended.then(() => Promise.reject(new Error("the process that was asked has ended"))),
    ]);
    return told as Told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }
}
