import { pause, type Runtime } from "../runtime/runtime.ts";

/** Rate limit for new connections: 10,000 links reconnect within 25 seconds without overloading the ecosystem. */
const connectionsPerSecond = 400;
/** Rate limit for renewals: ecosystems allow fewer calls of their token endpoint than of their API. */
export const renewalsPerSecond = 100;

/**
 * Admission control for all streams of a node, or for all renewals: after an outage or a start they connect evenly with
 * jitter, instead of all at once.
 */
export class ConnectionRateLimiter {
  readonly #runtime: Runtime;
  readonly #perSecond: number;
  #nextMs = 0;

  constructor(runtime: Runtime, perSecond = connectionsPerSecond) {
    this.#runtime = runtime;
    this.#perSecond = perSecond;
  }

  /** Resolves when it is the caller's turn to connect, or at once when the signal aborts. */
  async admit(signal: AbortSignal): Promise<void> {
    const { elapsedMs, random } = this.#runtime;
    const intervalMs = 1_000 / this.#perSecond;
    const turnMs = Math.max(elapsedMs(), this.#nextMs);
    this.#nextMs = turnMs + intervalMs;
    const waitMs = turnMs - elapsedMs() + random() * intervalMs;
    // No other stream waits: connect at once.
    if (waitMs >= intervalMs) await pause(this.#runtime, waitMs, signal);
  }
}
