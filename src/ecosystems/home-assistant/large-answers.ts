import { limits } from "../../model/limits.ts";
import { LeakyBucket } from "../../runtime/leaky-bucket.ts";
import type { Cancel, Timers } from "../../runtime/runtime.ts";

/** A whole home is read with five calls, and with the first event of a subscription. */
const answersOfHome = 6;

/**
 * The answers of a session that may be larger than an event: registries and all states. While one is awaited, the
 * instance may send large messages, so each has a time limit. Their bytes have a rate limit of their own, whose burst is
 * a whole home.
 */
export class LargeAnswers {
  readonly #timers: Timers;
  readonly #limitMs: number;
  readonly #late: () => void;
  readonly #limitMessages: (bytes: number) => void;
  readonly #awaited = new Map<number, Cancel>();
  readonly #rate = new LeakyBucket({
    perSecond: limits.streamBytesPerSecond,
    atOnce: limits.streamBytesAtOnce + answersOfHome * limits.untrustedJsonLargeBytes,
  });

  /**
   * `late` is called when an answer has not come within the limit, `limitMessages` with the bytes that a message may have
   * from now on.
   */
  constructor(timers: Timers, limitMs: number, late: () => void, limitMessages: (bytes: number) => void) {
    this.#timers = timers;
    this.#limitMs = limitMs;
    this.#late = late;
    this.#limitMessages = limitMessages;
  }

  get isAwaited(): boolean {
    return this.#awaited.size > 0;
  }

  /** Waits for the answer to the call with this id, or for the first event of the subscription with this id. */
  expect(id: number): void {
    this.#awaited.set(id, this.#timers.after(this.#limitMs, this.#late));
    this.#limitMessages(limits.untrustedJsonLargeBytes);
  }

  /** The answer has come, or is no longer wanted. */
  settle(id: number): void {
    this.#awaited.get(id)?.();
    if (this.#awaited.delete(id) && !this.isAwaited) this.#limitMessages(limits.streamMessageBytes);
  }

  settleAll(): void {
    for (const id of [...this.#awaited.keys()]) this.settle(id);
  }

  /** Adds bytes that were read while an answer was awaited. Returns for how many milliseconds to pause the stream. */
  add(bytes: number, nowMs: number): number {
    return this.#rate.add(bytes, nowMs);
  }
}
