import { type TraitName, traits } from "./catalogue.ts";
import { choiceAt, flagAt, member, mistake, numberAt, objectAt, onlyMembers, textAt } from "./json-check.ts";
import type { ValueType } from "./trait.ts";
import type { AttributeSource, FieldSource, MappedTrait } from "./trait-map.ts";
import { requireWords } from "./trait-map-fields.ts";

type Fields = ReadonlyMap<string, FieldSource>;

/** Capabilities that follow from the fields. A map can't contradict itself by telling them too. */
const derived: Readonly<Partial<Record<TraitName, Readonly<Record<string, (fields: Fields) => unknown>>>>> = {
  onOff: { readOnly: (fields) => writable(fields, "on") === undefined },
  fanTimer: { supported: () => true },
};

/** Capabilities that list what a writable text or enum field may be set to, and the field. */
const lists: Readonly<Partial<Record<TraitName, Readonly<Record<string, string>>>>> = {
  thermostat: { modes: "mode", presets: "preset" },
  fan: { modes: "mode" },
};

/** Reads the capabilities of a trait: those that the map lists, those that follow from the fields, null for all others. */
export function readCapabilities(trait: TraitName, fields: Fields, json: unknown): MappedTrait["capabilities"] {
  const jsonPath = `traits.${trait}.capabilities`;
  const members = objectAt(jsonPath, json ?? {});
  const definitions = traits[trait].capabilities;
  const followed = derived[trait] ?? {};
  for (const name of Object.keys(followed)) {
    if (Object.hasOwn(members, name)) mistake(`${jsonPath}.${name}`, "must be left out: it follows from the fields");
  }
  onlyMembers(jsonPath, members, Object.keys(definitions));
  const read: Record<string, unknown> = {};
  for (const [name, { value: type }] of Object.entries(definitions)) {
    const value = member(members, name) ?? null;
    read[name] = followed[name]?.(fields) ?? (value === null ? null : capabilityAt(`${jsonPath}.${name}`, value, type));
  }
  for (const [name, field] of Object.entries(lists[trait] ?? {}))
    read[name] = choicesOf(trait, name, field, fields, read);
  return read;
}

/** The values that a field may be set to: those that the map lists, or all that have words. */
function choicesOf(trait: TraitName, name: string, field: string, fields: Fields, read: MappedTrait["capabilities"]) {
  const listed = read[name] as readonly string[] | null;
  const source = writable(fields, field);
  if (!source) return listed;
  const jsonPath = `traits.${trait}.${field}`;
  const { format } = source;
  if (listed) {
    requireWords(jsonPath, format, listed);
    return listed;
  }
  if (typeof format !== "string" && "areImplied" in format && !format.areImplied) return [...format.wordOfValue.keys()];
  return mistake(`traits.${trait}.capabilities.${name}`, `must list the values to which ${field} can be set`);
}

function writable(fields: Fields, field: string): AttributeSource | undefined {
  const source = fields.get(field);
  return source && "attribute" in source && source.isWritable ? source : undefined;
}

const mostItems = 64;

function capabilityAt(jsonPath: string, value: unknown, type: ValueType): unknown {
  switch (type.type) {
    case "boolean":
      return flagAt(jsonPath, value);
    case "enum":
      return choiceAt(jsonPath, value, type.values);
    case "number":
      return numberAt(jsonPath, value, { min: type.min ?? -1e6, max: type.max ?? 1e6 });
    case "text":
      return textAt(jsonPath, value);
    case "list":
      return listAt(jsonPath, value, type.values);
  }
}

function listAt(jsonPath: string, value: unknown, values: readonly string[] | undefined): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostItems) {
    return mistake(jsonPath, `must be a list of 1 to ${mostItems} texts`);
  }
  const items = value.map((item, index) =>
    values ? choiceAt(`${jsonPath}[${index}]`, item, values) : textAt(`${jsonPath}[${index}]`, item),
  );
  if (new Set(items).size < items.length) mistake(jsonPath, "must not repeat a text");
  return items;
}
