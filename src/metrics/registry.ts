/** The registry of all metrics, which writes Prometheus' text format (0.0.4). */
export class Registry {
  readonly #families: Family[] = [];

  /** A value that only grows. */
  counter<Labels extends readonly string[]>(name: string, help: string, ...labels: Labels): Counter<Labels> {
    return this.#add(new Counter<Labels>(name, help, labels));
  }

  /** Counts measured values in buckets. */
  histogram<Labels extends readonly string[]>(
    name: string,
    help: string,
    bounds: readonly number[],
    ...labels: Labels
  ): Histogram<Labels> {
    return this.#add(new Histogram<Labels>(name, help, bounds, labels));
  }

  /** A value that is read when the metrics are collected; left out while it is undefined. */
  gauge(name: string, help: string, read: ReadValue, type: ReadType = "gauge"): void {
    this.#add(new Gauge(name, help, type, read));
  }

  async text(): Promise<string> {
    const written = await Promise.all(
      this.#families.map(async (family) => {
        const { name, help, type } = family;
        const samples = await family.samples();
        const lines = samples.map(([suffix, labels, value]) => `${name}${suffix}${labels} ${number(value)}\n`);
        return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
      }),
    );
    return written.join("");
  }

  #add<Added extends Family>(family: Added): Added {
    this.#families.push(family);
    return family;
  }
}

type Sample = readonly [suffix: string, labels: string, value: number];
/** The quantiles of a summary are read like gauges; only a summary may have the label `quantile`. */
type ReadType = "gauge" | "counter" | "summary";
export type ReadValue = () => ReadResult | Promise<ReadResult>;
/** One value, or one for each set of labels. */
type ReadResult = number | undefined | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: ReadType | "histogram";
  samples(): Promise<readonly Sample[]>;
}

type Values<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

export class Counter<Labels extends readonly string[]> implements Family {
  readonly type = "counter";
  readonly name: string;
  readonly help: string;
  readonly #labels: Labels;
  readonly #counts = new Map<string, { readonly values: readonly string[]; count: number }>();

  constructor(name: string, help: string, labels: Labels) {
    this.name = name;
    this.help = help;
    this.#labels = labels;
    if (labels.length === 0) this.add(0, ...([] as never));
  }

  /** Creates a series with 0 for each value of the only label: Prometheus sees no increase in a series that starts at 1. */
  initialize(this: Counter<readonly [string]>, values: readonly string[]): void {
    for (const value of values) this.add(0, value);
  }

  add(count: number, ...values: Values<Labels>): void {
    this.of(...values).count += count;
  }

  /** The counter under these labels, for callers that count often. */
  of(...values: Values<Labels>): { count: number } {
    const key = values.join("\n");
    const known = this.#counts.get(key) ?? { values: [...(values as readonly string[])], count: 0 };
    this.#counts.set(key, known);
    return known;
  }

  async samples(): Promise<readonly Sample[]> {
    return [...this.#counts.values()].map(
      ({ values, count }) => ["", labelled(this.#labels.map((name, at) => [name, values[at]!])), count] as const,
    );
  }
}

interface Series {
  readonly values: readonly string[];
  /** One count for each bound, and a last one for larger values. */
  readonly counts: number[];
  sum: number;
}

export class Histogram<Labels extends readonly string[]> implements Family {
  readonly type = "histogram";
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #labels: Labels;
  readonly #series = new Map<string, Series>();

  constructor(name: string, help: string, bounds: readonly number[], labels: Labels) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.#labels = labels;
  }

  observe(value: number, ...values: Values<Labels>): void {
    this.of(...values)(value);
  }

  /** The function that records a value under these labels, for callers that measure often. */
  of(...values: Values<Labels>): (value: number) => void {
    const key = values.join("\n");
    const bounds = this.#bounds;
    const series = this.#series.get(key) ?? {
      values: [...(values as readonly string[])],
      counts: new Array<number>(bounds.length + 1).fill(0),
      sum: 0,
    };
    this.#series.set(key, series);
    return (value) => {
      let at = 0;
      while (at < bounds.length && value > bounds[at]!) at++;
      series.counts[at]! += 1;
      series.sum += value;
    };
  }

  async samples(): Promise<readonly Sample[]> {
    return [...this.#series.values()].flatMap(({ values, counts, sum }) => {
      const own = this.#labels.map((name, at) => [name, values[at]!] as const);
      let below = 0;
      const buckets = counts.map((count, at): Sample => {
        below += count;
        const bound = this.#bounds[at];
        return ["_bucket", labelled([...own, ["le", bound === undefined ? "+Inf" : String(bound)]]), below];
      });
      return [...buckets, ["_sum", labelled(own), sum] as const, ["_count", labelled(own), below] as const];
    });
  }
}

class Gauge implements Family {
  readonly name: string;
  readonly help: string;
  readonly type: ReadType;
  readonly #read: ReadValue;

  constructor(name: string, help: string, type: ReadType, read: ReadValue) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#read = read;
  }

  async samples(): Promise<readonly Sample[]> {
    const found = await this.#read();
    if (found === undefined) return [];
    if (typeof found === "number") return [["", "", found]];
    return found.map(([labels, value]) => ["", labelled(Object.entries(labels)), value] as const);
  }
}

function labelled(pairs: readonly (readonly [name: string, value: string])[]): string {
  if (pairs.length === 0) return "";
  const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
