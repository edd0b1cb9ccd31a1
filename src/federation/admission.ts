import { pause, type Runtime } from "../runtime/runtime.ts";

/** 10,000 links are back within 25 seconds, and their ecosystem isn't stormed. */
const connectionsPerSecond = 400;

/**
 * The door through which all streams of a node connect: after an outage or a start they go out evenly, each a little
 * off its beat, instead of all at once.
 */
export class Admission {
  readonly #runtime: Runtime;
  #nextMs = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Resolves when it is the caller's turn to connect, or at once when the signal aborts. */
  async admit(signal: AbortSignal): Promise<void> {
    const { elapsedMs, random } = this.#runtime;
    const intervalMs = 1_000 / connectionsPerSecond;
    const turnMs = Math.max(elapsedMs(), this.#nextMs);
    this.#nextMs = turnMs + intervalMs;
    const waitMs = turnMs - elapsedMs() + random() * intervalMs;
    // Nobody else wants out just now: then there is nothing to spread.
    if (waitMs >= intervalMs) await pause(this.#runtime, waitMs, signal);
  }
}
