/** A stored trait map as the checker reads it. It knows the maps of the simulation: on or off, and a percentage. */
export interface ReadMap {
  readonly kind: string;
  readonly commandSeconds: number;
  readonly online?: { readonly silentAfterSeconds?: number; readonly attribute?: string; readonly words?: Words };
  readonly traits: {
    readonly onOff: { readonly on: { readonly attribute: string; readonly words: Words } };
    readonly brightness?: { readonly percent: { readonly attribute: string } };
  };
}

type Words = Readonly<Record<"true" | "false", string>>;

export type Texts = ReadonlyMap<string | number, string | null>;

export function readStoredMap(text: string): ReadMap {
  return JSON.parse(text) as ReadMap;
}

/** The attribute of a field. */
export function attributeOf({ traits }: ReadMap, field: string): string | undefined {
  return field === "onOff.on" ? traits.onOff.on.attribute : traits.brightness?.percent.attribute;
}

export function traitsOf({ traits }: ReadMap): readonly string[] {
  return Object.keys(traits);
}

/** The values of the thing by field, without `available`. */
export function valuesOf(map: ReadMap, texts: Texts): Map<string, unknown> {
  const { onOff, brightness } = map.traits;
  const values = new Map<string, unknown>([["onOff.on", flagIn(onOff.on.words, texts.get(onOff.on.attribute))]]);
  if (brightness) {
    const text = texts.get(brightness.percent.attribute) ?? "";
    values.set("brightness.percent", /^\d+$/.test(text) ? Number(text) : null);
  }
  return values;
}

/** What the attribute for it says of the device's availability; undefined when the map has none. */
export function toldAvailable({ online }: ReadMap, texts: Texts): boolean | null | undefined {
  if (online?.attribute === undefined || !online.words) return online ? undefined : null;
  return flagIn(online.words, texts.get(online.attribute));
}

/** The silence after which the device is not available; undefined when the map has no such limit. */
export function silenceMs({ online }: ReadMap): number | undefined {
  return online?.silentAfterSeconds === undefined ? undefined : online.silentAfterSeconds * 1_000;
}

function flagIn(words: Words, text: string | null | undefined): boolean | null {
  if (text === words.true) return true;
  return text === words.false ? false : null;
}
