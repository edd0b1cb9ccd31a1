import type { TraitName } from "./catalogue.ts";
import type { CommandedTrait } from "./command-plan.ts";
import type { FieldValue } from "./stored-thing.ts";
import type { ThingKind } from "./thing.ts";

/**
 * How the attributes of a tenant's own device type become a thing: which attribute is which field of which trait, and in
 * which words and units. `trait-map-reading.ts` reads it from JSON.
 */
export interface TraitMap {
  readonly kind: Exclude<ThingKind, "home">;
  readonly maker: string | null;
  readonly model: string | null;
  /** Undefined: the map does not say how presence is known, so that it is unknown. */
  readonly online: OnlineRule | undefined;
  /** How long the device may take to show the result of a command. */
  readonly commandSeconds: number;
  readonly traits: Readonly<Partial<Record<TraitName, MappedTrait>>>;
}

/** An attribute that says whether the device is reachable, or the silence after which it counts as unreachable. */
export type OnlineRule = { readonly attribute: string; readonly words: Words } | { readonly silentAfterMs: number };

export interface MappedTrait {
  /** The mapped fields by name; all others are null. */
  readonly fields: ReadonlyMap<string, FieldSource>;
  /** Every capability of the trait; null when the map does not tell it. */
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** Where the value of a field comes from: an attribute, or a value that all devices of the type share. */
export type FieldSource = AttributeSource | { readonly constant: FieldValue };

export interface AttributeSource {
  readonly attribute: string;
  /** Whether commands may set it. */
  readonly isWritable: boolean;
  readonly format: Format;
}

/** How an attribute's text holds a value. `verbatim`: the text is the value. */
export type Format = "verbatim" | Words | Scale;

/** The device's own words, one to one. Values are written as texts: `true`, `false`, or the value of an enum. */
export interface Words {
  readonly valueOfWord: ReadonlyMap<string, string>;
  readonly wordOfValue: ReadonlyMap<string, string>;
  /** The map tells no words: each value is its own word. */
  readonly areImplied: boolean;
}

/** The value is the attribute's number times `factor` plus `offset`. Written numbers are rounded to `decimals`. */
export interface Scale {
  readonly factor: number;
  readonly offset: number;
  readonly decimals: number;
}

/** The fields that commands set. `writable` is refused for all others. */
export const settableFields: Readonly<Record<CommandedTrait, readonly string[]>> = {
  onOff: ["on"],
  brightness: ["percent"],
  thermostat: ["mode", "heatCelsius", "coolCelsius", "targetCelsius", "preset"],
  fanTimer: ["active", "untilMs"],
  fan: ["mode", "percent"],
};

/** The fields that commands can set, by trait. */
export type SettableFields = Readonly<Partial<Record<TraitName, readonly string[]>>>;

/** The fields whose attributes commands may write. */
export function settableIn({ traits }: TraitMap): SettableFields {
  const settable: Partial<Record<TraitName, readonly string[]>> = {};
  for (const [trait, { fields }] of Object.entries(traits)) {
    const writable = [...fields].filter(([, source]) => "attribute" in source && source.isWritable);
    if (writable.length > 0) settable[trait as TraitName] = writable.map(([field]) => field);
  }
  return settable;
}

/** The attribute from which a field is read; undefined when the map has none for it. */
export function attributeSource(map: TraitMap, trait: TraitName, field: string): AttributeSource | undefined {
  const source = map.traits[trait]?.fields.get(field);
  return source && "attribute" in source ? source : undefined;
}

/** The names of all attributes that the map reads. */
export function mappedAttributes({ online, traits }: TraitMap): ReadonlySet<string> {
  const names = new Set<string>();
  if (online && "attribute" in online) names.add(online.attribute);
  for (const { fields } of Object.values(traits)) {
    for (const source of fields.values()) if ("attribute" in source) names.add(source.attribute);
  }
  return names;
}
