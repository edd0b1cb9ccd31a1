import { cleanText } from "../model/clean-text.ts";
import { alarmAttribute, structureAttribute, thermostatAttribute } from "./attribute-names.ts";
import type { AttributeValues } from "./attribute-values.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import { isPresent } from "./slots.ts";

/** The answer of GET largestrings (docs/interface.md, The adaptor): maps names and ecosystem ids to indexes. */
export interface LargeStrings {
  /** Friendly name of a structure → its ecosystem id. */
  readonly labels: Readonly<Record<string, string>>;
  /** Ecosystem id → `[X]` of a structure, `[X, kind, name, structure id]` of a device: X as text; Y is not included. */
  readonly identifiers: Readonly<Record<string, readonly string[]>>;
}

/** Lists the present objects that have an index, under the ids and names that the attributes show. */
export function largeStrings(map: IndexMap, values: AttributeValues): LargeStrings {
  const labels = emptyRecord<string>();
  const identifiers = emptyRecord<readonly string[]>();
  // Structures last, so that they win should a device carry the id of a structure.
  map.structures.forEach((structure, index) => {
    if (isPresent(structure)) listDevices(structure, index + 1, values, identifiers);
  });
  map.structures.forEach((structure, index) => {
    if (!isPresent(structure)) return;
    const x = index + 1;
    const id = cleanText(structure.id);
    const label = values[structureAttribute(x, "name")] || id;
    // There are at most two structures.
    labels[label in labels ? `${label} (2)` : label] = id;
    identifiers[id] = [String(x)];
  });
  return { labels, identifiers };
}

function listDevices(
  structure: StructureSlot,
  x: number,
  values: AttributeValues,
  identifiers: Record<string, readonly string[]>,
): void {
  const structureId = cleanText(structure.id);
  structure.thermostats.forEach((slot, index) => {
    if (!isPresent(slot)) return;
    const name = values[thermostatAttribute(x, index + 1, "name")] ?? "";
    identifiers[cleanText(slot.id)] = [String(x), "thermostats", name, structureId];
  });
  structure.alarms.forEach((slot, index) => {
    if (!isPresent(slot)) return;
    const name = values[alarmAttribute(x, index + 1, "name")] ?? "";
    identifiers[cleanText(slot.id)] = [String(x), "smokeCoAlarms", name, structureId];
  });
}

/** Names and ids come from outside: in an ordinary object a structure named `__proto__` would get lost. */
function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
