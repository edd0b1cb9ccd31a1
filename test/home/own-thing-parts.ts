import assert from "node:assert/strict";
import { isJsonProblem } from "../../src/home/json-check.ts";
import { type AttributeTexts, type OwnValues, ownDescriptor, ownState } from "../../src/home/own-thing.ts";
import { storedTraits } from "../../src/home/stored-thing.ts";
import type { Thing } from "../../src/home/thing.ts";
import type { TraitMap } from "../../src/home/trait-map.ts";
import { readTraitMap } from "../../src/home/trait-map-reading.ts";

/** The map that a JSON document stands for. */
export function mapOf(json: object): TraitMap {
  const map = readTraitMap(json);
  if (isJsonProblem(map)) assert.fail(`${map.jsonPath} ${map.problem}`);
  return map;
}

/** A map with one trait of one field. */
export function mapOfField(trait: string, field: string, source: object, capabilities?: object): TraitMap {
  return mapOf({ kind: "other", traits: { [trait]: { [field]: source, ...(capabilities && { capabilities }) } } });
}

/** Stored attributes, all written at 1,000. */
export function valuesOf(attributes: Readonly<Record<string, string>>): OwnValues {
  const rows = Object.entries(attributes).map(([name, value]) => [name, { value, timeMs: 1_000 }] as const);
  return { attributes: new Map(rows), lastTimeMs: 1_000, mapChangedMs: 0 };
}

/** The thing of a device with these attributes, as commands are planned against it. */
export function thingOf(
  map: TraitMap,
  attributes: Readonly<Record<string, string>>,
): Pick<Thing, "traits" | "isOnline"> {
  const descriptor = ownDescriptor(map, { name: "One", room: null });
  return { traits: storedTraits(descriptor, ownState(map, valuesOf(attributes), 1_000)), isOnline: null };
}

export function textsOf(attributes: Readonly<Record<string, string | null>>): AttributeTexts {
  return new Map(Object.entries(attributes));
}
