export const hourMs = 3_600_000;
export const hours = 24;

/** The counts at some moment. */
export interface HourlySnapshot {
  /** The hour of the last bucket, counted from 1970. */
  readonly hour: number;
  readonly counts: Readonly<Record<string, readonly number[]>>;
}

interface HourlySeries {
  /** The hour of the last bucket, counted from 1970. */
  hour: number;
  readonly buckets: number[];
}

/**
 * What this node has counted in each of the last 24 hours, in memory. The caller's names are a fixed set, so the size is
 * bounded. The store has the counts of earlier processes (stored-counts.ts).
 */
export class HourlyCounts {
  readonly #nowMs: () => number;
  readonly #counts = new Map<string, HourlySeries>();
  #latestHour = 0;
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

  snapshot(): HourlySnapshot {
    return { hour: this.#hour, counts: this.all() };
  }

  /** Never decreases: a clock that is set back moves no counts. */
  get #hour(): number {
    this.#latestHour = Math.max(this.#latestHour, Math.floor(this.#nowMs() / hourMs));
    return this.#latestHour;
  }

  #advanceToNow(series: HourlySeries): void {
    const passed = Math.min(hours, this.#hour - series.hour);
    for (let i = 0; i < passed; i++) {
      series.buckets.shift();
      series.buckets.push(0);
    }
    series.hour = this.#hour;
  }
}
