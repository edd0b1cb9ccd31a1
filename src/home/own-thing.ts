import { type TraitName, traitNames, traits } from "./catalogue.ts";
import { readFlag, readMapped } from "./mapped-value.ts";
import {
  type FieldChange,
  type FieldValue,
  fieldChange,
  type ThingDescriptor,
  type ThingState,
  type TimedValue,
} from "./stored-thing.ts";
import { attributeSource, type TraitMap } from "./trait-map.ts";

/** A tenant's own device, as far as its thing shows it. */
export interface OwnDevice {
  readonly name: string;
  readonly room: string | null;
}

export function ownDescriptor({ kind, maker, model, traits: mapped }: TraitMap, device: OwnDevice): ThingDescriptor {
  const capabilities: Partial<Record<TraitName, Readonly<Record<string, unknown>>>> = {};
  for (const trait of traitNames) if (mapped[trait]) capabilities[trait] = mapped[trait].capabilities;
  return { kind, name: device.name, room: device.room, homeName: null, maker, model, capabilities };
}

/** What is stored of a device: its attributes, and when it wrote last. */
export interface OwnValues {
  readonly attributes: ReadonlyMap<string, { readonly value: string | null; readonly timeMs: number }>;
  /** Descriptions don't count: presence depends on the device's own writes. */
  readonly lastTimeMs: number;
  /** No field is older than the map: a client that asks for changes since a time gets what a new map changed. */
  readonly mapChangedMs: number;
}

/** The state of the device's thing. Each field has the time of the attributes that it comes from. */
export function ownState(map: TraitMap, values: OwnValues, nowMs: number): ThingState {
  const { attributes, mapChangedMs } = values;
  const textOf = (attribute: string) => attributes.get(attribute)?.value ?? null;
  const timeOf = (names: readonly string[]) =>
    names.reduce((latest, name) => Math.max(latest, attributes.get(name)?.timeMs ?? 0), mapChangedMs);
  const available = availability(map, values, nowMs);
  const state: Partial<Record<TraitName, Record<string, TimedValue>>> = {};
  for (const trait of mappedTraits(map)) {
    const fields: Record<string, TimedValue> = { available };
    for (const [field, { value, from }] of fieldsOf(map, trait, textOf)) fields[field] = [value, timeOf(from)];
    state[trait] = fields;
  }
  return state;
}

/** The values of a device's attributes; null or missing: erased, or never written. */
export type AttributeTexts = ReadonlyMap<string, string | null>;

/**
 * Which fields of the thing a write of attributes changes. Both maps hold all attributes that the map reads.
 * `comesBack`: the device had exceeded its silence limit before this write, so that the write makes it available.
 */
export function ownFieldChanges(
  map: TraitMap,
  before: AttributeTexts,
  after: AttributeTexts,
  comesBack: boolean,
): readonly FieldChange[] {
  const { online } = map;
  const isOnline = (texts: AttributeTexts) =>
    online && "attribute" in online ? readFlag(online.words, texts.get(online.attribute) ?? null) : null;
  const [wasOnline, available] = comesBack ? [false, true] : [isOnline(before), isOnline(after)];
  const changes: FieldChange[] = [];
  for (const trait of mappedTraits(map)) {
    if (wasOnline !== available) changes.push({ trait, field: "available", value: available });
    const old = fieldsOf(map, trait, (attribute) => before.get(attribute) ?? null);
    for (const [field, { value }] of fieldsOf(map, trait, (attribute) => after.get(attribute) ?? null)) {
      const previous = old.get(field)?.value;
      if (value !== previous) changes.push(fieldChange(trait, field, previous, value));
    }
  }
  return changes;
}

/** Whether the device has exceeded the silence limit of its map; false for a map without one. */
export function isSilent({ online }: Pick<TraitMap, "online">, lastTimeMs: number, nowMs: number): boolean {
  return online !== undefined && "silentAfterMs" in online && nowMs - lastTimeMs > online.silentAfterMs;
}

export function hasSilenceLimit({ online }: Pick<TraitMap, "online">): boolean {
  return online !== undefined && "silentAfterMs" in online;
}

/** The fields that change when a device has exceeded its silence limit, and when that was. */
export function ownSilence(
  map: TraitMap,
  { lastTimeMs, mapChangedMs }: Pick<OwnValues, "lastTimeMs" | "mapChangedMs">,
): { readonly fields: readonly FieldChange[]; readonly sinceMs: number } {
  const fields = mappedTraits(map).map((trait) => ({ trait, field: "available", value: false }));
  const [, sinceMs] = availability(map, { attributes: new Map(), lastTimeMs, mapChangedMs }, Number.POSITIVE_INFINITY);
  return { fields, sinceMs };
}

function availability(map: TraitMap, { attributes, lastTimeMs, mapChangedMs }: OwnValues, nowMs: number): TimedValue {
  const { online } = map;
  if (!online) return [null, mapChangedMs];
  if ("attribute" in online) {
    const shown = attributes.get(online.attribute);
    return [readFlag(online.words, shown?.value ?? null), Math.max(mapChangedMs, shown?.timeMs ?? 0)];
  }
  if (!isSilent(map, lastTimeMs, nowMs)) return [true, Math.max(mapChangedMs, lastTimeMs)];
  return [false, Math.max(mapChangedMs, lastTimeMs + online.silentAfterMs)];
}

interface DerivedValue {
  readonly value: FieldValue;
  /** The attributes that it comes from. */
  readonly from: readonly string[];
}

/** All fields of a trait in the catalogue's order. */
function fieldsOf(
  map: TraitMap,
  trait: TraitName,
  textOf: (attribute: string) => string | null,
): ReadonlyMap<string, DerivedValue> {
  const fields = new Map<string, DerivedValue>();
  for (const [field, { value: type }] of Object.entries(traits[trait].fields)) {
    const source = map.traits[trait]?.fields.get(field);
    if (!source) fields.set(field, untold);
    else if ("constant" in source) fields.set(field, { value: source.constant, from: [] });
    else {
      const value = readMapped(source.format, type, textOf(source.attribute));
      fields.set(field, { value, from: [source.attribute] });
    }
  }
  if (fields.has("word")) fields.set("word", ownWord(map, trait, textOf));
  if (trait === "thermostat" && !map.traits.thermostat?.fields.has("targetCelsius")) {
    fields.set("targetCelsius", targetOf(fields));
  }
  return fields;
}

const untold: DerivedValue = { value: null, from: [] };

/** The device's own word for the state, as it wrote it. */
function ownWord(map: TraitMap, trait: TraitName, textOf: (attribute: string) => string | null): DerivedValue {
  const source = attributeSource(map, trait, "state");
  if (!source) return untold;
  return { value: readMapped("verbatim", { type: "text" }, textOf(source.attribute)), from: [source.attribute] };
}

/** A map with setpoints alone has the setpoint of the mode as its target. */
function targetOf(fields: ReadonlyMap<string, DerivedValue>): DerivedValue {
  const mode = fields.get("mode")!;
  const setpoint = mode.value === "heat" ? "heatCelsius" : mode.value === "cool" ? "coolCelsius" : undefined;
  const target = setpoint === undefined ? untold : fields.get(setpoint)!;
  return { value: target.value, from: [...mode.from, ...target.from] };
}

function mappedTraits(map: TraitMap): readonly TraitName[] {
  return traitNames.filter((trait) => map.traits[trait]);
}
