/** One measured value, as a collector reads it. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const metricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const floats = /^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?Inf|NaN)$/;

/**
 * Reads Prometheus' text format as its description has it (exposition formats, 0.0.4), and throws at the first line
 * that breaks a rule: each metric's HELP and TYPE once and before its samples, its samples together, no sample twice,
 * labels well formed, histograms with rising buckets up to +Inf that agree with their count.
 */
export function readExposition(text: string): Exposition {
  if (!text.endsWith("\n")) throw new Error("the last line must end with a line feed");
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const ended = new Set<string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  let current = "";
  const enter = (family: string) => {
    if (family === current) return;
    if (ended.has(family)) throw new Error(`the lines of ${family} are not together`);
    ended.add(family);
    current = family;
  };
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = new RegExp(`^# (HELP|TYPE) (${metricName}) (.*)$`).exec(line);
    if (comment) {
      const [, word, name = "", rest = ""] = comment;
      enter(name);
      if (word === "HELP") {
        if (helped.has(name)) throw new Error(`a second HELP of ${name}`);
        if (/\\(?![\\n])/.test(rest)) throw new Error(`a wrong escape in the HELP of ${name}`);
        helped.add(name);
      } else {
        if (types.has(name)) throw new Error(`a second TYPE of ${name}`);
        if (!["counter", "gauge", "histogram", "summary", "untyped"].includes(rest))
          throw new Error(`no type: ${rest}`);
        types.set(name, rest);
      }
      continue;
    }
    if (line === "" || line.startsWith("#")) continue;
    const parsed = new RegExp(`^(${metricName})(?:\\{(.*)\\})? (\\S+)( -?\\d+)?$`).exec(line);
    if (!parsed) throw new Error(`not a sample: ${line}`);
    const [, name = "", labelText, value = ""] = parsed;
    if (!floats.test(value)) throw new Error(`not a number: ${line}`);
    const labels = readLabels(labelText ?? "", line);
    const family = familyOf(name, types);
    if (!types.has(family)) throw new Error(`${name} has no TYPE before it`);
    enter(family);
    const identity = `${name}${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(identity)) throw new Error(`twice: ${line}`);
    seen.add(identity);
    samples.push({ name, labels, value: Number(value.replace("Inf", "Infinity")) });
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, samples);
  return { types, samples };
}

function familyOf(name: string, types: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return types.get(base) === "histogram" || types.get(base) === "summary" ? base : name;
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== "") {
    const found = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/.exec(rest);
    if (!found) throw new Error(`labels that can't be read: ${line}`);
    const [whole, name = "", value = ""] = found;
    if (Object.hasOwn(labels, name)) throw new Error(`a label twice: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const keyOf = ({ labels: { le: _, ...others } }: Sample) => JSON.stringify(Object.entries(others).sort());
  const buckets = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    keyOf,
  );
  for (const [key, found] of buckets) {
    const bounds = found.map(({ labels }) => Number(labels.le?.replace("Inf", "Infinity")));
    const isRising = (values: readonly number[], least: number) =>
      values.every((value, at) => at === 0 || value - values[at - 1]! >= least);
    if (!isRising(bounds, Number.MIN_VALUE) || bounds.at(-1) !== Number.POSITIVE_INFINITY) {
      throw new Error(`the bounds of ${name} ${key} don't rise to +Inf`);
    }
    if (
      !isRising(
        found.map(({ value }) => value),
        0,
      )
    )
      throw new Error(`the buckets of ${name} ${key} fall`);
    const one = (end: string) => samples.find((sample) => sample.name === `${name}${end}` && keyOf(sample) === key);
    if (one("_count")?.value !== found.at(-1)!.value) throw new Error(`the count of ${name} ${key} is another`);
    if (one("_sum") === undefined) throw new Error(`${name} ${key} has no sum`);
  }
}
