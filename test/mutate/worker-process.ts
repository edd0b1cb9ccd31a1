import { type ChildProcess, fork } from "node:child_process";
import type { Answer, Order } from "./orders.ts";

/** How often the main process looks whether a worker takes too long. */
const tickMs = 500;

/** The main process's end of one worker. It starts its process when it is first asked, and again after it has ended. */
export class WorkerProcess {
  readonly #sources: string;
  readonly #mutant: number | undefined;
  #child: ChildProcess | undefined;

  /** With a mutant, that mutant is on from the first line that the process loads. */
  constructor(sources: string, mutant?: number) {
    this.#sources = sources;
    this.#mutant = mutant;
  }

  /** The worker's answer; undefined when its process ended instead, or had to be ended after `limitMs`. */
  async ask(order: Order, limitMs: number): Promise<Answer | undefined> {
    if (!this.#child) {
      this.#child = this.#start();
      if ((await answerOf(this.#child, 120_000))?.kind !== "ready") this.stop();
    }
    const child = this.#child;
    if (!child?.connected) {
      this.stop();
      return undefined;
    }
    child.send(order, () => undefined);
    const answer = await answerOf(child, limitMs);
    if (!answer || answer.isWorn) this.stop();
    return answer;
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const args = [this.#sources, ...(this.#mutant === undefined ? [] : [String(this.#mutant)])];
    return fork(new URL("worker.ts", import.meta.url), args, {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: ["--max-old-space-size=1024", "--disable-warning=ExperimentalWarning"],
    });
  }
}

/** Counts ticks instead of milliseconds: a process that was stopped for a while has not had that time. */
function answerOf(child: ChildProcess, limitMs: number): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let left = Math.ceil(limitMs / tickMs);
    const settle = (answer: Answer | undefined) => {
      clearInterval(timer);
      child.off("message", settle);
      child.off("exit", gone);
      resolve(answer);
    };
    const gone = () => settle(undefined);
    const timer = setInterval(() => --left <= 0 && gone(), tickMs);
    child.on("message", settle as (message: unknown) => void);
    child.on("exit", gone);
  });
}
