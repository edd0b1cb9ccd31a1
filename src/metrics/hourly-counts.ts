const hourMs = 3_600_000;
const hours = 24;

interface HourlySeries {
  /** The hour of the last bucket, counted from 1970. */
  hour: number;
  readonly buckets: number[];
}

/**
 * What this node has counted in each of the last 24 hours, in memory. The caller's names are a fixed set, so the size is
 * bounded. A restart forgets all of it.
 */
export class HourlyCounts {
  readonly #nowMs: () => number;
  readonly #counts = new Map<string, HourlySeries>();
  /** Since when it counts. */
  readonly sinceMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.sinceMs = nowMs();
  }

  add(name: string, count = 1): void {
    const series = this.#counts.get(name) ?? { hour: this.#hour, buckets: new Array<number>(hours).fill(0) };
    this.#counts.set(name, series);
    this.#advanceToNow(series);
    series.buckets[hours - 1]! += count;
  }

  /** Of each name the counts of the last 24 hours, the present hour last. */
  all(): Readonly<Record<string, readonly number[]>> {
    for (const series of this.#counts.values()) this.#advanceToNow(series);
    return Object.fromEntries([...this.#counts].map(([name, { buckets }]) => [name, [...buckets]]));
  }

  get #hour(): number {
    return Math.floor(this.#nowMs() / hourMs);
  }

  #advanceToNow(series: HourlySeries): void {
    const passed = Math.min(hours, Math.max(0, this.#hour - series.hour));
    for (let i = 0; i < passed; i++) {
      series.buckets.shift();
      series.buckets.push(0);
    }
    series.hour = Math.max(series.hour, this.#hour);
  }
}
