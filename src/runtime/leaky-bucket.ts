export interface LeakyBucketRate {
  /** What leaks out of the bucket. */
  readonly perSecond: number;
  /** What the bucket holds: the burst that is allowed after a quiet time. */
  readonly atOnce: number;
}

/** Rate limit with a burst. */
export class LeakyBucket {
  readonly #rate: LeakyBucketRate;
  #level = 0;
  #atMs = 0;

  constructor(rate: LeakyBucketRate) {
    this.#rate = rate;
  }

  /** Adds an amount. Returns how many milliseconds to wait until the bucket is no more than full. */
  add(amount: number, nowMs: number): number {
    const { perSecond, atOnce } = this.#rate;
    this.#level = Math.max(0, this.#level - ((nowMs - this.#atMs) * perSecond) / 1_000) + amount;
    this.#atMs = nowMs;
    return (Math.max(0, this.#level - atOnce) * 1_000) / perSecond;
  }

  /** The part of the burst that is used up: 0 when the bucket is empty, 1 when it is full. */
  fill(nowMs: number): number {
    this.add(0, nowMs);
    return this.#level / this.#rate.atOnce;
  }
}
