import type { Projection } from "../../runtime/json/projection.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { shortText } from "./short-text.ts";

/** An entity as the registry describes it. An entity without a registry entry has only its entity id. */
export interface Entity {
  /** The registry's id, which survives a rename of the entity id; without a registry entry the entity id. */
  readonly id: string;
  readonly entityId: string;
  readonly isRegistered: boolean;
  readonly deviceId: string | null;
  readonly areaId: string | null;
  /** The name that a person gave it; it may be empty. */
  readonly name: string | null;
  readonly originalName: string | null;
  /** Its name is only a part: the device's name comes before it. */
  readonly isNamePart: boolean;
  /** What its integration calls this kind of entity. */
  readonly translationKey: string | null;
  /** Its place among all entities, the oldest first. */
  readonly age: number;
  /** The integration that provides it. */
  readonly integration: string | null;
  /** `config` and `diagnostic` entities serve the maintenance of a device. */
  readonly category: string | null;
  /** Disabled or hidden by a person. */
  readonly isLeftOut: boolean;
}

/** A child device has the area, maker and model of its parent where it has none of its own. */
export interface Device {
  /** The device that it is a component of, over all generations; itself if it is none. */
  readonly rootId: string;
  readonly areaId: string | null;
  /** The whole name. */
  readonly name: string | null;
  readonly maker: string | null;
  readonly model: string | null;
}

export interface Registries {
  /** By entity id. */
  readonly entities: ReadonlyMap<string, Entity>;
  readonly devices: ReadonlyMap<string, Device>;
  /** Names by area id. */
  readonly areas: ReadonlyMap<string, string>;
}

/** More entries of a registry are not read. */
const entriesLimit = 20_000;
const longestText = 255;

function entriesWith(...names: readonly string[]): Projection {
  return { each: { pick: Object.fromEntries(names.map((name) => [name, true])) }, limit: entriesLimit };
}

/** What is read of each answer. */
export const registryProjections = {
  entities: entriesWith(
    ...["id", "entity_id", "device_id", "area_id", "name", "original_name", "platform", "entity_category"],
    ...["disabled_by", "hidden_by", "translation_key", "created_at", "has_entity_name", "next_name_part"],
  ),
  classes: {
    members: { pick: { device_class: true, original_device_class: true } },
    limit: entriesLimit,
  },
  devices: entriesWith(
    ...["id", "area_id", "name_by_user", "name", "manufacturer", "model", "parent_device_id", "next_name_part"],
  ),
  areas: entriesWith("area_id", "name"),
  config: { pick: { unit_system: { pick: { temperature: true } }, location_name: true, state: true, version: true } },
  states: {
    each: { pick: { entity_id: true, attributes: { pick: { device_class: true } } } },
    limit: entriesLimit,
  },
} as const satisfies Readonly<Record<string, Projection>>;

function textOf(value: unknown): string | null {
  return typeof value === "string" ? shortText(value, longestText) : null;
}

/** Reads the three registry lists; undefined when one of them is no list. Malformed entries are left out. */
export function readRegistries(entities: unknown, devices: unknown, areas: unknown): Registries | undefined {
  if (!Array.isArray(entities) || !Array.isArray(devices) || !Array.isArray(areas)) return undefined;
  return {
    entities: new Map(byAge(objectsIn(entities)).flatMap(entityIn)),
    devices: withParents(new Map(objectsIn(devices).flatMap(deviceIn))),
    areas: new Map(
      objectsIn(areas).flatMap(({ area_id: id, name }) =>
        isId(id) && typeof name === "string" ? [[id, shortText(name, longestText)]] : [],
      ),
    ),
  };
}

export function unregistered(entityId: string): Entity {
  return {
    id: entityId,
    entityId,
    isRegistered: false,
    deviceId: null,
    areaId: null,
    name: null,
    originalName: null,
    isNamePart: false,
    translationKey: null,
    age: Number.POSITIVE_INFINITY,
    integration: null,
    category: null,
    isLeftOut: false,
  };
}

/** The classes of entities in an answer to `get_entries`, by entity id: the one that a person chose, or the integration's. */
export function readClasses(entries: unknown): ReadonlyMap<string, string | null> {
  const found = isJsonObject(entries) ? Object.entries(entries) : [];
  return new Map(
    found.flatMap(([entityId, entry]) =>
      isJsonObject(entry) ? [[entityId, textOf(entry.device_class) ?? textOf(entry.original_device_class)]] : [],
    ),
  );
}

/** Older versions tell no times, and list the oldest entry first. */
function byAge(entries: readonly JsonObject[]): readonly JsonObject[] {
  const timeOf = ({ created_at: time }: JsonObject) => (typeof time === "number" ? time : 0);
  return entries.toSorted((a, b) => timeOf(a) - timeOf(b));
}

function objectsIn(list: readonly unknown[]): readonly JsonObject[] {
  return list.filter(isJsonObject);
}

function entityIn(entry: JsonObject, age: number): readonly (readonly [entityId: string, entity: Entity])[] {
  const { id, entity_id: entityId, next_name_part: nextPart } = entry;
  if (!isId(id) || !isId(entityId)) return [];
  const name = textOf(entry.name);
  const entity: Entity = {
    id,
    entityId,
    isRegistered: true,
    deviceId: textOf(entry.device_id),
    areaId: textOf(entry.area_id),
    name,
    originalName: textOf(entry.original_name),
    // In versions without `next_name_part` a name that a person gave is whole.
    isNamePart: nextPart === undefined ? entry.has_entity_name === true && name === null : nextPart === "device",
    translationKey: textOf(entry.translation_key),
    age,
    integration: textOf(entry.platform),
    category: textOf(entry.entity_category),
    isLeftOut: textOf(entry.disabled_by) !== null || textOf(entry.hidden_by) !== null,
  };
  return [[entityId, entity]];
}

interface RegisteredDevice extends Omit<Device, "rootId"> {
  readonly parentId: string | null;
  /** Its name is only a part: the parent's name comes before it. */
  readonly isNamePart: boolean;
}

function deviceIn(entry: JsonObject): readonly (readonly [deviceId: string, device: RegisteredDevice])[] {
  const { id } = entry;
  if (!isId(id)) return [];
  const device: RegisteredDevice = {
    areaId: textOf(entry.area_id),
    name: textOf(entry.name_by_user) ?? textOf(entry.name),
    maker: textOf(entry.manufacturer),
    model: textOf(entry.model),
    parentId: textOf(entry.parent_device_id),
    isNamePart: entry.next_name_part === "parent_device",
  };
  return [[id, device]];
}

/** Parents of parents are followed so far. The registry has one generation, and a hostile one could have a circle. */
const generationsLimit = 4;

function withParents(devices: ReadonlyMap<string, RegisteredDevice>): ReadonlyMap<string, Device> {
  const complete = (id: string, { parentId, isNamePart, ...own }: RegisteredDevice, generations: number): Device => {
    const parent = parentId === null || generations === 0 ? undefined : devices.get(parentId);
    if (!parent) return { rootId: id, ...own };
    const { rootId, areaId, name, maker, model } = complete(parentId!, parent, generations - 1);
    return {
      rootId,
      areaId: own.areaId ?? areaId,
      name: isNamePart ? joinNames(name, own.name) : own.name,
      maker: own.maker ?? maker,
      model: own.model ?? model,
    };
  };
  return new Map([...devices].map(([id, device]) => [id, complete(id, device, generationsLimit)]));
}

/** Two parts of a name, of which each may be missing or empty. */
export function joinNames(first: string | null, second: string | null): string | null {
  const name = [first, second].filter((part) => part).join(" ");
  return name === "" ? null : shortText(name, longestText);
}

/** Home Assistant's ids are shorter. */
function isId(value: unknown): value is string {
  return typeof value === "string" && value.length <= longestText;
}
