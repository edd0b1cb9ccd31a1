import { limits } from "../../model/limits.ts";
import type { Cancel, Timers } from "../../runtime/runtime.ts";
import { StreamRateLimit } from "../kit/stream-rate-limit.ts";

/** A whole home is read with five calls, and with the first event of a subscription. */
const answersOfHome = 6;

/** How long the bytes of a whole home would take at the average rate of a stream. */
const homeMs = (answersOfHome * limits.untrustedJsonLargeBytes * 1_000) / limits.streamBytesPerSecond;

/**
 * The answers of a session that may be larger than an event: registries and all states. While one is awaited, the
 * instance may send large messages, so each has a time limit. Their bytes have a rate limit of their own, whose burst is
 * a whole home.
 */
export class LargeAnswers {
  readonly #timers: Timers;
  readonly #limitMs: number;
  readonly #late: () => void;
  readonly #awaited = new Map<number, Cancel>();
  readonly #rate = new StreamRateLimit();

  /** `late` is called when an answer has not come within the limit. */
  constructor(timers: Timers, limitMs: number, late: () => void) {
    this.#timers = timers;
    this.#limitMs = limitMs;
    this.#late = late;
  }

  get isAwaited(): boolean {
    return this.#awaited.size > 0;
  }

  /** Waits for the answer to the call with this id, or for the first event of the subscription with this id. */
  expect(id: number): void {
    this.#awaited.set(id, this.#timers.after(this.#limitMs, this.#late));
  }

  /** The answer has come, or is no longer wanted. */
  settle(id: number): void {
    this.#awaited.get(id)?.();
    this.#awaited.delete(id);
  }

  settleAll(): void {
    for (const id of [...this.#awaited.keys()]) this.settle(id);
  }

  /** Adds bytes that were read while an answer was awaited. Returns for how many milliseconds to pause the stream. */
  read(bytes: number, nowMs: number): number {
    return Math.max(0, this.#rate.read(bytes, nowMs) - homeMs);
  }
}
