import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { textOf } from "../kit/document-values.ts";

/** An entity as the registry describes it. An entity without a registry entry has only its entity id. */
export interface Entity {
  /** The registry's id, which survives a rename of the entity id; without a registry entry the entity id. */
  readonly id: string;
  readonly entityId: string;
  readonly isRegistered: boolean;
  readonly deviceId: string | null;
  readonly areaId: string | null;
  /** The name that a person gave it. */
  readonly name: string | null;
  readonly originalName: string | null;
  /** The integration that provides it. */
  readonly integration: string | null;
  /** `config` and `diagnostic` entities serve the maintenance of a device. */
  readonly category: string | null;
  /** Disabled or hidden by a person. */
  readonly isLeftOut: boolean;
}

export interface Device {
  readonly areaId: string | null;
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

/** Reads the three registry lists; undefined when one of them is no list. Malformed entries are left out. */
export function readRegistries(entities: unknown, devices: unknown, areas: unknown): Registries | undefined {
  if (!Array.isArray(entities) || !Array.isArray(devices) || !Array.isArray(areas)) return undefined;
  return {
    entities: new Map(objectsIn(entities).flatMap(entityIn)),
    devices: new Map(objectsIn(devices).flatMap(deviceIn)),
    areas: new Map(
      objectsIn(areas).flatMap(({ area_id: id, name }) =>
        typeof id === "string" && typeof name === "string" ? [[id, name]] : [],
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
    integration: null,
    category: null,
    isLeftOut: false,
  };
}

function objectsIn(list: readonly unknown[]): readonly JsonObject[] {
  return list.filter(isJsonObject);
}

function entityIn(entry: JsonObject): readonly (readonly [entityId: string, entity: Entity])[] {
  const { id, entity_id: entityId } = entry;
  if (typeof id !== "string" || typeof entityId !== "string") return [];
  const entity: Entity = {
    id,
    entityId,
    isRegistered: true,
    deviceId: textOf(entry.device_id),
    areaId: textOf(entry.area_id),
    name: textOf(entry.name),
    originalName: textOf(entry.original_name),
    integration: textOf(entry.platform),
    category: textOf(entry.entity_category),
    isLeftOut: textOf(entry.disabled_by) !== null || textOf(entry.hidden_by) !== null,
  };
  return [[entityId, entity]];
}

function deviceIn(entry: JsonObject): readonly (readonly [deviceId: string, device: Device])[] {
  const { id } = entry;
  if (typeof id !== "string") return [];
  const device: Device = {
    areaId: textOf(entry.area_id),
    name: textOf(entry.name_by_user) ?? textOf(entry.name),
    maker: textOf(entry.manufacturer),
    model: textOf(entry.model),
  };
  return [[id, device]];
}
