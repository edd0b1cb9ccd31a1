import { isAttributeName, longestAttributeName } from "../model/attribute-text.ts";
import { type TraitName, traits } from "./catalogue.ts";
import {
  choiceAt,
  flagAt,
  type JsonObject,
  member,
  memberOf,
  mistake,
  numberAt,
  objectAt,
  onlyMembers,
  textAt,
  wholeNumberAt,
} from "./json-check.ts";
import type { FieldValue } from "./stored-thing.ts";
import type { ValueType } from "./trait.ts";
import { type FieldSource, type Format, type Scale, settableFields, type Words } from "./trait-map.ts";

type NumberType = Extract<ValueType, { readonly type: "number" }>;

/** Reads where a field comes from: `{"attribute": …}`, or `{"value": …}` for a value that all devices share. */
export function readFieldSource(trait: TraitName, field: string, value: unknown): FieldSource {
  const jsonPath = `traits.${trait}.${field}`;
  const type = traits[trait].fields[field]!.value;
  if (field === "word") mistake(jsonPath, "must be left out: it shows the text of the attribute of state");
  const json = objectAt(jsonPath, value);
  if (Object.hasOwn(json, "value")) {
    onlyMembers(jsonPath, json, ["value"]);
    return { constant: constantAt(`${jsonPath}.value`, json.value, type) };
  }
  onlyMembers(jsonPath, json, [
    "attribute",
    "value",
    "writable",
    ...(type.type === "number" ? scaleMembers : ["words"]),
  ]);
  const attribute = attributeAt(jsonPath, json);
  const isWritable = flagAt(`${jsonPath}.writable`, member(json, "writable") ?? false);
  const settable = Object.hasOwn(settableFields, trait) ? settableFields[trait as keyof typeof settableFields] : [];
  if (isWritable && !settable.includes(field)) mistake(`${jsonPath}.writable`, "must be left out: no command sets it");
  const format = readFormat(jsonPath, json, type);
  if (isWritable && type.type === "boolean") requireWords(jsonPath, format, ["true", "false"]);
  return { attribute, isWritable, format };
}

const scaleMembers = ["factor", "offset", "unit", "decimals"];

function readFormat(jsonPath: string, json: JsonObject, type: ValueType): Format {
  if (type.type === "number") return scaleAt(jsonPath, json, type);
  if (type.type === "text" && !Object.hasOwn(json, "words")) return "verbatim";
  return wordsAt(jsonPath, json, type);
}

export function attributeAt(jsonPath: string, json: JsonObject): string {
  const name = member(json, "attribute");
  if (typeof name === "string" && isAttributeName(name)) return name;
  return mistake(
    `${jsonPath}.attribute`,
    `must be the name of an attribute: 1 to ${longestAttributeName} characters, none of them a control character`,
  );
}

/** More words than any field has values. */
const mostWords = 64;

/** The words of a field, one to one; without the member `words` each value is its own word. */
export function wordsAt(jsonPath: string, json: JsonObject, type: ValueType): Words {
  const values = type.type === "boolean" ? ["true", "false"] : type.type === "enum" ? type.values : undefined;
  const words = objectAt(
    `${jsonPath}.words`,
    member(json, "words") ?? Object.fromEntries((values ?? []).map((value) => [value, value])),
  );
  if (values) onlyMembers(`${jsonPath}.words`, words, values);
  const names = Object.keys(words);
  if (names.length === 0 || names.length > mostWords)
    mistake(`${jsonPath}.words`, `must have 1 to ${mostWords} members`);
  const [valueOfWord, wordOfValue] = [new Map<string, string>(), new Map<string, string>()];
  for (const value of names) {
    const at = memberOf(`${jsonPath}.words`, value);
    // The value of a text field is a text of the map's owner too.
    if (!values) textAt(at, value);
    const word = textAt(at, words[value]);
    const other = valueOfWord.get(word);
    if (other !== undefined) mistake(at, `must differ from the word of ${other}`);
    valueOfWord.set(word, value);
    wordOfValue.set(value, word);
  }
  return { valueOfWord, wordOfValue, areImplied: !Object.hasOwn(json, "words") };
}

/** A writable field needs a word for each value that a command may set. */
export function requireWords(jsonPath: string, format: Format, values: readonly string[]): void {
  if (typeof format === "string" || "factor" in format) return;
  for (const value of values) {
    if (!format.wordOfValue.has(value)) mistake(`${jsonPath}.words`, `must have a word for ${value}`);
  }
}

/** How degrees of a unit become degrees Celsius. */
const celsiusOf = {
  celsius: { factor: 1, offset: 0 },
  fahrenheit: { factor: 5 / 9, offset: -160 / 9 },
  kelvin: { factor: 1, offset: -273.15 },
} as const;

const units = Object.keys(celsiusOf) as readonly (keyof typeof celsiusOf)[];

function scaleAt(jsonPath: string, json: JsonObject, type: NumberType): Scale {
  const decimals = wholeNumberAt(`${jsonPath}.decimals`, member(json, "decimals") ?? 2, { min: 0, max: 6 });
  if (Object.hasOwn(json, "unit")) {
    if (type.unit !== "celsius") mistake(`${jsonPath}.unit`, "must be left out: the field is no temperature");
    for (const name of ["factor", "offset"]) {
      if (Object.hasOwn(json, name)) mistake(`${jsonPath}.${name}`, "can't be combined with unit");
    }
    return { ...celsiusOf[choiceAt(`${jsonPath}.unit`, json.unit, units)], decimals };
  }
  const factor = numberAt(`${jsonPath}.factor`, member(json, "factor") ?? 1, { min: -1e6, max: 1e6 });
  if (Math.abs(factor) < 1e-6) mistake(`${jsonPath}.factor`, "must not be 0 or close to 0");
  const offset = numberAt(`${jsonPath}.offset`, member(json, "offset") ?? 0, { min: -1e9, max: 1e9 });
  return { factor, offset, decimals };
}

function constantAt(jsonPath: string, value: unknown, type: ValueType): FieldValue {
  if (type.type === "boolean") return flagAt(jsonPath, value);
  if (type.type === "enum") return choiceAt(jsonPath, value, type.values);
  if (type.type === "number") return numberAt(jsonPath, value, { min: type.min ?? -1e15, max: type.max ?? 1e15 });
  return textAt(jsonPath, value);
}
