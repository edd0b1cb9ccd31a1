import { ageMs, type Clocks, type Moment, momentOf } from "../runtime/age.ts";

/** One reading of the store's clock, with the times of the request and the answer on the node's monotonic clock. */
export interface ClockReading {
  readonly sentMs: number;
  readonly storeMs: number;
  readonly receivedMs: number;
}

/** Bounds of the difference between two clocks. */
interface Offset {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Estimates the store's clock between two readings. The nodes' own clocks may be hours apart, and may jump. So all times
 * that one node writes and another reads are on the store's clock.
 */
export class StoreClock {
  readonly #clocks: Clocks;
  /** The store's clock minus the node's monotonic clock. */
  #offset: Offset | undefined;
  #updatedAt: Moment;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
    this.#updatedAt = momentOf(clocks);
  }

  /** The store read its clock at some moment between the request and the answer. */
  update(reading: ClockReading): void {
    const measured = offsetOf(reading);
    const known = this.#offset;
    this.#updatedAt = momentOf(this.#clocks);
    // Each reading narrows the bounds. If it contradicts them, the store's clock was set.
    const intersection = known && {
      minMs: Math.max(known.minMs, measured.minMs),
      maxMs: Math.min(known.maxMs, measured.maxMs),
    };
    this.#offset = intersection && intersection.minMs <= intersection.maxMs ? intersection : measured;
  }

  /** By how much the store's clock was set, forward or back, at least, between the last update and this reading. */
  stepMs(reading: ClockReading): number {
    const measured = offsetOf(reading);
    const known = this.#offset ?? measured;
    return Math.max(0, measured.minMs - known.maxMs, known.minMs - measured.maxMs);
  }

  /**
   * A lower bound of the store's time; undefined before the first reading. After a sleep of this machine it is as good as
   * the machine's wall clock, until the next reading.
   */
  get nowMs(): number | undefined {
    if (!this.#offset) return undefined;
    return Math.floor(this.#updatedAt.elapsedMs + ageMs(this.#clocks, this.#updatedAt) + this.#offset.minMs);
  }

  /** By how much the store's time may be later: at most the duration of the fastest reading. */
  get uncertaintyMs(): number {
    return this.#offset ? Math.ceil(this.#offset.maxMs - this.#offset.minMs) : 0;
  }
}

function offsetOf({ sentMs, storeMs, receivedMs }: ClockReading): Offset {
  return { minMs: storeMs - receivedMs, maxMs: storeMs - sentMs };
}
