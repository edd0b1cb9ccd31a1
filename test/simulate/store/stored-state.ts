/** The fields of a stored state: `[oldest time, [trait's number, ...values, how much later each is], …]`. */
export function rowFields(state: string): readonly (readonly [field: string, timed: unknown])[] {
  const [oldestMs, ...traits] = JSON.parse(state) as [number, ...[number, ...unknown[]][]];
  const fields = traits.flatMap(([number, ...values]) => {
    const [trait, ...names] = storedNames[number]!.split(" ");
    const later = (Array.isArray(values.at(-1)) ? values.pop() : []) as readonly number[];
    return ["available?", ...names].map((name, i) => {
      const value = values[i] ?? null;
      const shown = name.endsWith("?") && value !== null ? value === 1 : value;
      return [`${trait}.${name.replace("?", "")}`, [shown, oldestMs + (later[i] ?? 0)]] as const;
    });
  });
  return fields.sort();
}

/** The same by trait and field. */
export function storedState(state: string): Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> {
  const traits: Record<string, Record<string, readonly unknown[]>> = {};
  for (const [name, timed] of rowFields(state)) {
    const [trait, field] = name.split(".") as [string, string];
    traits[trait] ??= {};
    traits[trait][field] = timed as readonly unknown[];
  }
  return traits;
}

/** Each trait with its fields, in the order in which they are stored; `?` is behind those that are true or false. */
const storedNames: readonly string[] = [
  "onOff on?",
  "brightness percent",
  "temperature celsius",
  "humidity percent",
  "thermostat mode baseMode heatCelsius coolCelsius targetCelsius ecoHeatCelsius ecoCoolCelsius preset action",
  "fanTimer active? untilMs untilText",
  "fan mode percent",
  "smoke state word testing? fault? endOfLife? muted?",
  "carbonMonoxide state word testing? fault? endOfLife? muted?",
  "battery state percent",
  "indicator color",
  "presence state word",
];
