import type { Breezeway, Thing } from "@breezeway/sdk";

export async function allThings(breezeway: Breezeway): Promise<readonly Thing[]> {
  const things: Thing[] = [];
  for await (const thing of breezeway.things()) things.push(thing);
  return things;
}

/** The things of the user's homes by room, each with what it shows. */
export async function roomsOf(breezeway: Breezeway): Promise<readonly string[]> {
  const things = (await allThings(breezeway)).filter(({ kind }) => kind !== "home");
  const rooms = Map.groupBy(things, ({ room }) => room ?? "no room");
  return [...rooms]
    .sort(([one], [other]) => one.localeCompare(other))
    .flatMap(([room, some]) => [
      `${room}:`,
      ...some.map((thing) => `  ${thing.name ?? thing.kind} (${thing.kind}): ${stateOf(thing)}`).sort(),
    ]);
}

/** Those of the things that a person means. The beginning of each word of the name or the room is enough. */
export function meant(things: readonly Thing[], spoken: string): readonly Thing[] {
  const words = wordsOf(spoken);
  const found = things.filter(({ name, room }) => {
    const known = wordsOf(`${name ?? ""} ${room ?? ""}`);
    return words.length > 0 && words.every((word) => known.some((one) => one.startsWith(word)));
  });
  const whole = found.filter(({ name }) => name?.toLowerCase() === spoken);
  return whole.length > 0 ? whole : found;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) ?? [];
}

/** The values of a thing in words. Values that are not current are said as such, with their time. */
export function stateOf(thing: Thing): string {
  const words = valuesOf(thing);
  if (thing.stale) return `unknown; ${words} ${since(thing.confirmedTime)}`;
  const isSilent = Object.values(thing.traits).some((trait) => trait.state.available?.value === false);
  return isSilent ? `does not answer; last known: ${words}` : words;
}

/** `at 12:03 UTC`, or that nothing is known. */
export function since(timeMs: number | undefined): string {
  return timeMs === undefined ? "some time ago" : `at ${new Date(timeMs).toISOString().slice(11, 16)} UTC`;
}

function valuesOf({ traits: { temperature, thermostat, fanTimer, fan, onOff, smoke, carbonMonoxide } }: Thing): string {
  const { celsius } = temperature?.state ?? {};
  const { mode, targetCelsius } = thermostat?.state ?? {};
  const words = [
    typeof celsius?.value === "number" ? `${celsius.value} degrees` : "",
    typeof mode?.value === "string" ? `mode ${mode.value}` : "",
    typeof targetCelsius?.value === "number" ? `target ${targetCelsius.value}` : "",
    fanTimer?.state.active?.value === true || (thermostat && fan?.state.mode?.value === "on") ? "fan running" : "",
    typeof onOff?.state.on?.value === "boolean" ? (onOff.state.on.value ? "on" : "off") : "",
    smoke ? `smoke ${smoke.state.state?.value ?? "unknown"}` : "",
    carbonMonoxide ? `carbon monoxide ${carbonMonoxide.state.state?.value ?? "unknown"}` : "",
  ];
  return words.filter((word) => word !== "").join(", ") || "no value";
}
