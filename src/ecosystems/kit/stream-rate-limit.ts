import { limits } from "../../model/limits.ts";

/**
 * Rate limit (leaky bucket) for one account's stream. An ecosystem that sends one large account after the other would
 * otherwise keep the event loop busy, and all other accounts would wait. Ordinary streams never come near the limit.
 */
export class StreamRateLimit {
  /** Fill level of the bucket in bytes. */
  #bytes = 0;
  #atMs = 0;

  /** Adds bytes that were read. Returns for how many milliseconds to pause the stream. */
  read(bytes: number, nowMs: number): number {
    const perMs = limits.streamBytesPerSecond / 1_000;
    this.#bytes = Math.max(0, this.#bytes - (nowMs - this.#atMs) * perMs) + bytes;
    this.#atMs = nowMs;
    return Math.max(0, this.#bytes - limits.streamBytesAtOnce) / perMs;
  }
}
