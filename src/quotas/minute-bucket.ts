const minuteMs = 60_000;
/** Sums of fractions are not exact. */
const roundingMs = 0.001;

/**
 * Counts uses against a number that is allowed in a minute. The whole number may be used at once; then each use becomes
 * possible again as soon as its share of the minute has passed. So a refused caller waits for a moment, not for the end
 * of a fixed minute.
 */
export class MinuteBucket {
  /** When everything used so far will be possible again, on the monotonic clock. */
  #restoredMs = 0;

  /** How long the caller has to wait for the next use; 0 when it is possible now. */
  waitMs(nowMs: number, perMinute: number): number {
    const waitMs = this.#restoredMs + minuteMs / perMinute - (nowMs + minuteMs);
    return waitMs > roundingMs ? waitMs : 0;
  }

  /** Counts one use. Beyond the allowed number nothing more is counted. */
  use(nowMs: number, perMinute: number): void {
    const restoredMs = Math.max(this.#restoredMs, nowMs) + minuteMs / perMinute;
    this.#restoredMs = Math.min(restoredMs, nowMs + minuteMs);
  }

  /** How many uses are not possible again yet. */
  used(nowMs: number, perMinute: number): number {
    return Math.round((Math.max(0, this.#restoredMs - nowMs) * perMinute) / minuteMs);
  }

  isUnused(nowMs: number): boolean {
    return this.#restoredMs <= nowMs;
  }
}
