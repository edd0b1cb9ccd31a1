import { limits } from "../../model/limits.ts";
import type { Projection } from "../../runtime/json/projection.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { homeZone } from "./roles.ts";
import { shortText } from "./short-text.ts";

/** Bounds on memory. Home Assistant's own limit for a state is 255 characters. */
const longestText = 255;
const longestListedText = 64;
const listLimit = 64;

/** The attributes that Breezeway reads. Others are not kept. */
const attributeNames = [
  "brightness",
  "current_humidity",
  "current_temperature",
  "fan_mode",
  "fan_modes",
  "friendly_name",
  "hvac_action",
  "hvac_modes",
  "max_temp",
  "min_temp",
  "percentage",
  "percentage_step",
  "preset_mode",
  "preset_modes",
  "restored",
  "supported_color_modes",
  "supported_features",
  "target_temp_high",
  "target_temp_low",
  "target_temp_step",
  "temperature",
  "unit_of_measurement",
] as const;

/** What is read of the attributes in an event. */
export const attributesProjection: Projection = {
  pick: Object.fromEntries(
    attributeNames.map((name) => [name, { list: { each: true, limit: listLimit }, single: true } as const]),
  ),
};

export type EntityAttributes = { readonly [Name in (typeof attributeNames)[number]]?: unknown };

/** The state of an entity, and its attributes. */
export interface EntityState {
  readonly state: string;
  readonly attributes: EntityAttributes;
}

/** What is known of an entity now. */
export interface EntityView {
  /** The last usable state; undefined when the entity has reported none on this connection. */
  readonly lastState: EntityState | undefined;
  /** The values are those of now. False for an unavailable, unknown or restored entity, which keeps its last values. */
  readonly isFresh: boolean;
  /** Whether its device answers. */
  readonly isReachable: boolean;
  /** The present attributes: an unavailable entity still has a name and a class. */
  readonly attributes: EntityAttributes;
  /** The context of the last change. */
  readonly contextId: string | undefined;
}

interface Raw extends EntityState {
  readonly contextId: string | undefined;
  /** Estimated bytes. */
  readonly size: number;
}

/** Entities that are applied in one piece. */
const entitiesPerStep = 50;
/** Entities that an event speaks of, and those that it removes. */
export interface StateChanges {
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** How many entities were not kept: nobody subscribed to them, or the home takes too many bytes. */
  readonly ignoredCount: number;
}

/**
 * The states of the entities, built from the compressed events of `subscribe_entities`. The last values of an entity
 * are kept by the id of its registry entry, so that they survive a rename and a new subscription.
 */
export class EntityStates {
  readonly #raw = new Map<string, Raw>();
  readonly #lastUsableStates = new Map<string, Raw>();
  readonly #bytesLimit: number;
  #entities: ReadonlyMap<string, { readonly id: string }> = new Map();
  /** Of all states in both maps. A state in both counts once. */
  #bytes = 0;

  constructor(bytesLimit: number = limits.homeStateBytes) {
    this.#bytesLimit = bytesLimit;
  }

  /**
   * A new subscription begins: it sends the states of these entities again. The values of all others are forgotten, and
   * of those that have vanished and have no registry entry.
   */
  begin(entities: ReadonlyMap<string, { readonly id: string }>): void {
    this.#entities = entities;
    const kept = [...entities].filter(([entityId, { id }]) => id !== entityId || this.#raw.has(entityId));
    this.#raw.clear();
    const ids = new Set(kept.map(([, { id }]) => id));
    for (const id of this.#lastUsableStates.keys()) if (!ids.has(id)) this.#lastUsableStates.delete(id);
    this.#bytes = this.#lastUsableStates.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Applies an event. Yields after some entities, so that others get their turn. */
  *apply(event: unknown): Generator<undefined, StateChanges> {
    const changed: string[] = [];
    const removed: string[] = [];
    let [ignoredCount, appliedCount] = [0, 0];
    if (!isJsonObject(event)) return { changed, removed, ignoredCount };
    const added = entriesOf(event.a).map(([entityId, state]) => ({ entityId, state, isAdded: true }));
    const overlaid = entriesOf(event.c).map(([entityId, state]) => ({ entityId, state, isAdded: false }));
    for (const { entityId, state, isAdded } of [...added, ...overlaid]) {
      if (++appliedCount % entitiesPerStep === 0) yield;
      if (!isJsonObject(state)) continue;
      const next = isAdded ? addedState(state) : this.#overlaid(entityId, state);
      if (next && this.#isSubscribed(entityId) && this.#set(entityId, next)) changed.push(entityId);
      else ignoredCount += 1;
    }
    for (const entityId of Array.isArray(event.r) ? event.r : []) {
      if (typeof entityId === "string" && this.#forget(entityId)) removed.push(entityId);
    }
    return { changed, removed, ignoredCount };
  }

  /** Whether the instance has a state of the entity, whatever it says. */
  has(entityId: string): boolean {
    return this.#raw.has(entityId);
  }

  view(entityId: string): EntityView {
    const raw = this.#raw.get(entityId);
    const isFresh = raw !== undefined && isUsable(raw);
    return {
      lastState: isFresh ? raw : this.#lastUsableStates.get(this.#idOf(entityId)),
      isFresh,
      isReachable: raw !== undefined && raw.state !== "unavailable" && raw.attributes.restored !== true,
      attributes: raw?.attributes ?? {},
      contextId: raw?.contextId,
    };
  }

  #isSubscribed(entityId: string): boolean {
    return entityId === homeZone || this.#entities.has(entityId);
  }

  #idOf(entityId: string): string {
    return this.#entities.get(entityId)?.id ?? entityId;
  }

  /** Returns false if the home would take too many bytes: then the entity's state is unknown. */
  #set(entityId: string, raw: Raw): boolean {
    this.#remove(entityId);
    const id = this.#idOf(entityId);
    const replacedSize = isUsable(raw) ? (this.#lastUsableStates.get(id)?.size ?? 0) : 0;
    const bytes = this.#bytes - replacedSize + raw.size;
    if (bytes > this.#bytesLimit) return false;
    this.#bytes = bytes;
    this.#raw.set(entityId, raw);
    if (isUsable(raw)) this.#lastUsableStates.set(id, raw);
    return true;
  }

  /** The instance has removed the entity. A registered one may return under another name, with its last values. */
  #forget(entityId: string): boolean {
    const isKnown = this.#remove(entityId);
    if (this.#idOf(entityId) !== entityId) return isKnown;
    this.#bytes -= this.#lastUsableStates.get(entityId)?.size ?? 0;
    this.#lastUsableStates.delete(entityId);
    return isKnown;
  }

  #remove(entityId: string): boolean {
    const raw = this.#raw.get(entityId);
    if (raw !== this.#lastUsableStates.get(this.#idOf(entityId))) this.#bytes -= raw?.size ?? 0;
    return this.#raw.delete(entityId);
  }

  #overlaid(entityId: string, { "+": added, "-": lost }: JsonObject): Raw | undefined {
    const before = this.#raw.get(entityId);
    if (!before) return undefined;
    const set = isJsonObject(added) ? added : {};
    const names: readonly unknown[] = isJsonObject(lost) && Array.isArray(lost.a) ? lost.a : [];
    const attributes: { -readonly [Name in keyof EntityAttributes]: unknown } = { ...before.attributes };
    for (const name of attributeNames) if (names.includes(name)) delete attributes[name];
    return rawState(
      typeof set.s === "string" ? set.s : before.state,
      { ...attributes, ...attributesIn(set.a) },
      contextOf(set.c) ?? before.contextId,
    );
  }
}

/** `unavailable`: the device is offline. `unknown`: no value yet. `restored`: from before a restart of the instance. */
function isUsable({ state, attributes }: EntityState): boolean {
  return state !== "unavailable" && state !== "unknown" && attributes.restored !== true;
}

function addedState({ s: state, a: attributes, c: context }: JsonObject): Raw {
  // A state is a text. Anything else tells nothing.
  return rawState(typeof state === "string" ? state : "unknown", attributesIn(attributes), contextOf(context));
}

function rawState(state: string, attributes: EntityAttributes, contextId: string | undefined): Raw {
  let size = 100 + state.length;
  for (const name in attributes) size += sizeOf(attributes[name as keyof EntityAttributes]);
  return { state: shortText(state, longestText), attributes, contextId, size };
}

/** The attributes that Breezeway reads, without texts and lists that are too long. */
function attributesIn(value: unknown): EntityAttributes {
  const kept: { -readonly [Name in keyof EntityAttributes]: unknown } = {};
  if (!isJsonObject(value)) return kept;
  for (const name of attributeNames) {
    const attribute = value[name];
    if (typeof attribute === "string") kept[name] = shortText(attribute, longestText);
    else if (Array.isArray(attribute)) kept[name] = attribute.filter(isListedText).slice(0, listLimit);
    else if (attribute !== undefined && !isJsonObject(attribute)) kept[name] = attribute;
  }
  return kept;
}

function isListedText(item: unknown): boolean {
  return typeof item === "string" && item.length <= longestListedText;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return 16 + value.length;
  return Array.isArray(value) ? value.reduce((sum: number, item) => sum + sizeOf(item), 16) : 16;
}

/** A context is sent as its id, or as an object with a parent or a user. */
function contextOf(context: unknown): string | undefined {
  const id = isJsonObject(context) ? context.id : context;
  return typeof id === "string" && id.length <= longestListedText ? id : undefined;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
