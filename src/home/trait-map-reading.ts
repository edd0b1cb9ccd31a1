import { type TraitName, traitNames, traits } from "./catalogue.ts";
import {
  checkJson,
  choiceAt,
  type JsonObject,
  type JsonProblem,
  member,
  memberOf,
  mistake,
  objectAt,
  onlyMembers,
  textAt,
  wholeNumberAt,
} from "./json-check.ts";
import { thingKinds } from "./thing.ts";
import { flag } from "./trait.ts";
import type { AttributeSource, FieldSource, MappedTrait, OnlineRule, TraitMap } from "./trait-map.ts";
import { readCapabilities } from "./trait-map-capabilities.ts";
import { attributeAt, readFieldSource, wordsAt } from "./trait-map-fields.ts";

/** A home is a building, and presence tells who is in a building: no device has them. */
const deviceKinds = thingKinds.filter((kind) => kind !== "home");
const deviceTraits = traitNames.filter((trait) => trait !== "presence");

const commandSeconds = { min: 1, max: 3_600, default: 30 };
const silentAfterSeconds = { min: 10, max: 2_592_000 };

/** Reads a trait map from parsed JSON: the map, or the first mistake in it. */
export function readTraitMap(json: unknown): TraitMap | JsonProblem {
  return checkJson(() => {
    const document = objectAt("", json);
    onlyMembers("", document, ["kind", "maker", "model", "online", "commandSeconds", "traits"]);
    const map: TraitMap = {
      kind: choiceAt("kind", member(document, "kind"), deviceKinds),
      maker: optionalText(document, "maker"),
      model: optionalText(document, "model"),
      online: readOnline(member(document, "online")),
      commandSeconds: wholeNumberAt(
        "commandSeconds",
        member(document, "commandSeconds") ?? commandSeconds.default,
        commandSeconds,
      ),
      traits: readTraits(member(document, "traits")),
    };
    refuseSharedWrites(map);
    return map;
  });
}

/** Reads a trait map from text. */
export function readTraitMapText(text: string): TraitMap | JsonProblem {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { jsonPath: "The document", problem: "must be JSON" };
  }
  return readTraitMap(json);
}

/** What is wrong with a map, where, and what to do. */
export function mapProblemText({ jsonPath, problem }: JsonProblem): string {
  return `The trait map can't be used: ${jsonPath} ${problem}. Correct it and send the map again.`;
}

function optionalText(document: JsonObject, name: string): string | null {
  const value = member(document, name) ?? null;
  return value === null ? null : textAt(name, value);
}

function readOnline(value: unknown): OnlineRule | undefined {
  if (value === undefined || value === null) return undefined;
  const online = objectAt("online", value);
  if (!Object.hasOwn(online, "silentAfterSeconds")) {
    onlyMembers("online", online, ["attribute", "words", "silentAfterSeconds"]);
    return { attribute: attributeAt("online", online), words: wordsAt("online", online, flag) };
  }
  for (const name of ["attribute", "words"]) {
    if (Object.hasOwn(online, name)) mistake(`online.${name}`, "can't be combined with silentAfterSeconds");
  }
  onlyMembers("online", online, ["silentAfterSeconds"]);
  const seconds = wholeNumberAt("online.silentAfterSeconds", online.silentAfterSeconds, silentAfterSeconds);
  return { silentAfterMs: seconds * 1_000 };
}

function readTraits(value: unknown): TraitMap["traits"] {
  const traitsJson = objectAt("traits", value);
  onlyMembers("traits", traitsJson, deviceTraits);
  const read: Partial<Record<TraitName, MappedTrait>> = {};
  for (const trait of deviceTraits)
    if (Object.hasOwn(traitsJson, trait)) read[trait] = readTrait(trait, traitsJson[trait]);
  if (Object.keys(read).length === 0) mistake("traits", "must have at least one trait");
  return read;
}

function readTrait(trait: TraitName, value: unknown): MappedTrait {
  const jsonPath = memberOf("traits", trait);
  const traitJson = objectAt(jsonPath, value);
  const names = Object.keys(traits[trait].fields);
  onlyMembers(jsonPath, traitJson, [...names, "capabilities"]);
  const fields = new Map<string, FieldSource>();
  for (const field of names) {
    if (Object.hasOwn(traitJson, field)) fields.set(field, readFieldSource(trait, field, traitJson[field]));
  }
  if (fields.size === 0) mistake(jsonPath, `must have at least one of: ${names.join(", ")}`);
  if (names.includes("word") && !fields.has("state")) mistake(jsonPath, "must have the field state");
  return { fields, capabilities: readCapabilities(trait, fields, member(traitJson, "capabilities")) };
}

/** A command sets one field: with two writable fields on one attribute it would change the other too. */
function refuseSharedWrites(map: TraitMap): void {
  const places = new Map<string, string>();
  for (const trait of traitNames) {
    for (const [field, source] of map.traits[trait]?.fields ?? []) {
      if (!isWritten(source)) continue;
      const jsonPath = `traits.${trait}.${field}`;
      const other = places.get(source.attribute);
      if (other) mistake(`${jsonPath}.attribute`, `must not be the attribute of ${other}: both are writable`);
      places.set(source.attribute, jsonPath);
    }
  }
  const { online } = map;
  const other = online && "attribute" in online ? places.get(online.attribute) : undefined;
  if (other) mistake("online.attribute", `must not be the attribute of ${other}, which is writable`);
}

function isWritten(source: FieldSource): source is AttributeSource {
  return "attribute" in source && source.isWritable;
}
