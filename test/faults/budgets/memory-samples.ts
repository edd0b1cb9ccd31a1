/** The memory of a service after a full garbage collection. */
export interface Sample {
  readonly atMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** How long the service took to answer: it may have been busy. */
  readonly tookMs: number;
}

const minuteMs = 60_000;

/** The median of one minute; the first is 0. */
export function medianOf(samples: readonly Sample[], what: "rssBytes" | "heapBytes", minute: number): number {
  const inMinute = samples.filter(({ atMs }) => Math.floor(atMs / minuteMs) === minute);
  const sorted = inMinute.map((sample) => sample[what]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A line for every half minute, with a bar as long as the RSS is large. */
export function shownSamples(samples: readonly Sample[]): string {
  const largest = Math.max(...samples.map(({ rssBytes }) => rssBytes));
  const lines = [...Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / (minuteMs / 2)))].map(([half, some]) => {
    const { rssBytes, heapBytes } = some.at(-1)!;
    const slowestMs = Math.max(...some.map(({ tookMs }) => tookMs));
    const bar = "#".repeat(Math.round((40 * rssBytes) / largest));
    const figures = [`${half * 30} s`.padStart(6), megabytes(rssBytes), megabytes(heapBytes)];
    return `  ${figures.join("  ")}  ${`${slowestMs.toFixed(0)} ms`.padStart(9)}  ${bar}`;
  });
  return ["      at       RSS      live     answer", ...lines].join("\n");
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`.padStart(8);
}
