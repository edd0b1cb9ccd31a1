import { pause, type Runtime } from "../runtime/runtime.ts";

/** Rate limit for new connections: 10,000 links reconnect within 25 seconds without overloading the ecosystem. */
const connectionsPerSecond = 400;

/**
 * Admission control for all streams of a node: after an outage or a start they connect evenly with jitter, instead of
 * all at once.
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
    // No other stream waits: connect at once.
    if (waitMs >= intervalMs) await pause(this.#runtime, waitMs, signal);
  }
}
