import { randomBytes } from "node:crypto";

export type Attributes = Readonly<Record<string, unknown>>;

/** The state of an entity, as the state machine of an instance holds it. Times are in seconds. */
export interface EntityState {
  readonly state: string;
  readonly attributes: Attributes;
  readonly contextId: string;
  readonly lastChanged: number;
  readonly lastUpdated: number;
}

/** An entry of the entity registry. `id` stays when a person renames the entity id. */
export interface EntityEntry {
  readonly id: string;
  readonly entity_id: string;
  readonly device_id: string | null;
  readonly area_id: string | null;
  readonly name: string | null;
  readonly original_name: string | null;
  readonly platform: string;
  readonly unique_id: string;
  readonly disabled_by: string | null;
  readonly hidden_by: string | null;
  readonly entity_category: "config" | "diagnostic" | null;
  readonly translation_key: string | null;
  /** Seconds since 1970. */
  readonly created_at: number;
  /** The name that the integration gave it is only a part: the device's name comes before it. */
  readonly has_entity_name: boolean;
  /** `device`: also a name that a person gave it is only a part. Absent in versions before this member. */
  readonly next_name_part?: "device" | null;
  /** The class that a person has chosen. Only `get_entries` sends it. */
  readonly device_class: string | null;
  /** The class that the integration gave it. Only `get_entries` sends it. */
  readonly original_device_class: string | null;
}

export interface DeviceEntry {
  readonly id: string;
  readonly area_id: string | null;
  readonly name: string | null;
  readonly name_by_user: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** The device that this one is a component of. It has neither maker nor model of its own then. */
  readonly parent_device_id?: string | null;
  readonly next_name_part?: "parent_device" | null;
}

export interface AreaEntry {
  readonly area_id: string;
  readonly name: string;
}

export type TemperatureUnit = "°C" | "°F";

export type RegistryName = "area" | "device" | "entity";

export interface InstanceListener {
  stateChanged(entityId: string, before: EntityState | undefined, after: EntityState | undefined): void;
  registryUpdated(registry: RegistryName, data: Readonly<Record<string, unknown>>): void;
  /** The settings of the instance have changed. */
  configUpdated(): void;
}

/** The state machine and the registries of one Home Assistant instance. */
export class Instance {
  readonly areas = new Map<string, AreaEntry>();
  readonly devices = new Map<string, DeviceEntry>();
  readonly entities = new Map<string, EntityEntry>();
  readonly states = new Map<string, EntityState>();
  /** The states of devices that do not answer, from before. */
  readonly lost = new Map<string, EntityState>();
  readonly listeners = new Set<InstanceListener>();
  temperatureUnit: TemperatureUnit;
  locationName = "Hearth Hollow";
  /** The version of Home Assistant that the instance claims. */
  version = "2026.8.1";
  runState: "RUNNING" | "STARTING" | "NOT_RUNNING" = "RUNNING";

  /** When a person or a client last changed something; the simulated life rests for a while then. */
  touchedMs = 0;

  constructor(temperatureUnit: TemperatureUnit) {
    this.temperatureUnit = temperatureUnit;
  }

  addArea(name: string): string {
    const area_id = name.toLowerCase().replaceAll(" ", "_");
    this.areas.set(area_id, { area_id, name });
    this.#tell("area", { action: "create", area_id });
    return area_id;
  }

  addDevice(device: Partial<DeviceEntry>): string {
    const id = newId();
    const blank = { area_id: null, name: null, name_by_user: null, manufacturer: null, model: null };
    this.devices.set(id, { ...blank, ...device, id });
    this.#tell("device", { action: "create", device_id: id });
    return id;
  }

  /** Adds an entity with a registry entry. Returns the id of the entry. */
  addEntity(entityId: string, state: string, attributes: Attributes, entry: Partial<EntityEntry> = {}): string {
    const id = newId();
    this.entities.set(entityId, {
      device_id: null,
      area_id: null,
      name: null,
      original_name: textOf(attributes.friendly_name),
      platform: "demo",
      unique_id: id,
      disabled_by: null,
      hidden_by: null,
      entity_category: null,
      translation_key: null,
      created_at: Date.now() / 1_000,
      has_entity_name: false,
      device_class: null,
      original_device_class: textOf(attributes.device_class),
      ...entry,
      id,
      entity_id: entityId,
    });
    this.#tell("entity", { action: "create", entity_id: entityId });
    this.set(entityId, state, attributes);
    return id;
  }

  /** Replaces state and attributes. An entity without a registry entry comes into being this way. */
  set(entityId: string, state: string, attributes: Attributes, contextId = newId()): void {
    const before = this.states.get(entityId);
    const now = Date.now() / 1_000;
    const lastChanged = before?.state === state ? before.lastChanged : now;
    const after = { state, attributes, contextId, lastChanged, lastUpdated: now };
    this.states.set(entityId, after);
    for (const listener of this.listeners) listener.stateChanged(entityId, before, after);
  }

  /** Changes the state, single attributes, or both. An attribute with the value undefined is removed. */
  change(entityId: string, state: string | undefined, attributes: Attributes = {}, contextId = newId()): void {
    const before = this.states.get(entityId);
    if (!before) return;
    const merged = Object.entries({ ...before.attributes, ...attributes }).filter(([, value]) => value !== undefined);
    this.set(entityId, state ?? before.state, Object.fromEntries(merged), contextId);
  }

  /** The device of an entity does not answer. The entity keeps only the attributes that describe it. */
  lose(entityId: string): void {
    const before = this.states.get(entityId);
    if (!before || before.state === "unavailable") return;
    this.lost.set(entityId, before);
    this.set(entityId, "unavailable", describing(before.attributes));
  }

  /** The device answers again. */
  find(entityId: string): void {
    const before = this.lost.get(entityId);
    if (!this.lost.delete(entityId)) return;
    this.set(entityId, before!.state, before!.attributes);
  }

  /** The state of a registered entity whose integration is not loaded yet. Its name is the registry's, a part or not. */
  restore(entityId: string, attributes: Attributes): void {
    const { name, original_name } = this.entities.get(entityId)!;
    this.set(entityId, "unavailable", {
      ...describing(attributes),
      friendly_name: name ?? original_name,
      restored: true,
    });
  }

  removeState(entityId: string): void {
    const before = this.states.get(entityId);
    if (!this.states.delete(entityId)) return;
    for (const listener of this.listeners) listener.stateChanged(entityId, before, undefined);
  }

  /** A person renames an entity id. The registry entry keeps its id. */
  renameEntity(entityId: string, newEntityId: string): void {
    const entry = this.entities.get(entityId);
    const state = this.states.get(entityId);
    if (!entry || !state) throw new Error(`there is no entity ${entityId}`);
    this.entities.delete(entityId);
    this.entities.set(newEntityId, { ...entry, entity_id: newEntityId });
    this.removeState(entityId);
    const data = {
      action: "update",
      entity_id: newEntityId,
      old_entity_id: entityId,
      changes: { entity_id: entityId },
    };
    this.#tell("entity", data);
    this.set(newEntityId, state.state, state.attributes);
  }

  updateEntity(entityId: string, changes: Partial<EntityEntry>): void {
    const entry = this.entities.get(entityId);
    if (!entry) throw new Error(`there is no entity ${entityId}`);
    this.entities.set(entityId, { ...entry, ...changes });
    this.#tell("entity", { action: "update", entity_id: entityId, changes });
  }

  /** A person has changed the settings of the instance. */
  tellConfig(): void {
    for (const listener of this.listeners) listener.configUpdated();
  }

  /** Removes the registry entry and the state. */
  deleteEntity(entityId: string): void {
    this.entities.delete(entityId);
    this.removeState(entityId);
    this.#tell("entity", { action: "remove", entity_id: entityId });
  }

  #tell(registry: RegistryName, data: Readonly<Record<string, unknown>>): void {
    for (const listener of this.listeners) listener.registryUpdated(registry, data);
  }
}

/** The attributes that an unavailable entity still has. */
export function describing(attributes: Attributes): Attributes {
  const kept = ["friendly_name", "device_class", "supported_features", "hvac_modes", "min_temp", "max_temp"];
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => kept.includes(name)));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function newId(): string {
  return randomBytes(16).toString("hex");
}
