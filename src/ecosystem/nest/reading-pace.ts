import { limits } from "../../model/limits.ts";

/**
 * How fast one account's stream is read. An ecosystem that sends one large account after the other would otherwise keep
 * the event loop busy, and all other accounts would wait. Ordinary streams never come near the limit.
 */
export class ReadingPace {
  /** Bytes that were read and are not yet worked off at the allowed rate. */
  #bytes = 0;
  #atMs = 0;

  /** Counts bytes that were read. Answers for how many milliseconds the stream should not be read on. */
  read(bytes: number, nowMs: number): number {
    const perMs = limits.streamBytesPerSecond / 1_000;
    this.#bytes = Math.max(0, this.#bytes - (nowMs - this.#atMs) * perMs) + bytes;
    this.#atMs = nowMs;
    return Math.max(0, this.#bytes - limits.streamBytesAtOnce) / perMs;
  }
}
