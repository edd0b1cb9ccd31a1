import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A server in a child process, so that its CPU time does not count for this one. It ends with this process. */
export class ChildServer<Command extends object, Reply> implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.#ended = once(process, "exit");
  }

  /** The program sends its address in its first message, and one reply to each command. */
  static async start<Command extends object, Reply>(
    program: string,
    programArguments: readonly string[] = [],
  ): Promise<ChildServer<Command, Reply>> {
    const flags = { execArgv: ["--disable-warning=ExperimentalWarning"] };
    const child = fork(new URL(program, import.meta.url), programArguments, flags);
    const [{ url }] = (await once(child, "message")) as [{ readonly url: string }];
    return new ChildServer(child, url);
  }

  /** Only one command may be in progress. */
  async request(command: Command): Promise<Reply> {
    const answered = once(this.#process, "message");
    this.#process.send(command);
    const [reply] = await Promise.race([
      answered,
      this.#ended.then(() => Promise.reject(new Error("the child process has ended"))),
    ]);
    return reply as Reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }
}
