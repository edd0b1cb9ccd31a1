import { limits, type OnLimitReached } from "../../model/limits.ts";

/** Smaller messages are not counted: as much of each account waits to be applied. */
const uncountedBytes = 65_536;

/**
 * Bounds the bytes of messages and answers of outside clouds that have not arrived completely, all on one node together.
 * A sender that begins a large message and never ends it would keep its bytes in memory. Beyond the limit the message
 * that became large first is dropped: honest ones arrive within seconds.
 */
export class UnfinishedMessages {
  readonly #onLimitReached: OnLimitReached;
  readonly #limitBytes: number;
  /** Bytes of the large messages by their `drop`, in the order in which they became large. */
  readonly #large = new Map<() => void, number>();
  #sum = 0;

  constructor(onLimitReached: OnLimitReached = () => undefined, limitBytes: number = limits.unfinishedMessageBytes) {
    this.#onLimitReached = onLimitReached;
    this.#limitBytes = limitBytes;
  }

  /** Sets how many bytes of a message have arrived; 0 when it is complete or gone. `drop` frees them, and is its key. */
  set(drop: () => void, bytes: number): void {
    this.#sum -= this.#large.get(drop) ?? 0;
    if (bytes <= uncountedBytes) {
      this.#large.delete(drop);
      return;
    }
    // A key that is there keeps its place.
    this.#large.set(drop, bytes);
    this.#sum += bytes;
    if (this.#sum <= this.#limitBytes) return;
    this.#onLimitReached("unfinishedMessageBytes");
    const [first] = this.#large.keys();
    this.set(first!, 0);
    first!();
  }
}
