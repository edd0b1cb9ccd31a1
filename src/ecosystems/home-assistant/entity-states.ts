import { isJsonObject, type JsonObject } from "../kit/parse-json.ts";

/** The state of an entity, and its attributes. */
export interface EntityState {
  readonly state: string;
  readonly attributes: JsonObject;
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
  readonly attributes: JsonObject;
  /** The context of the last change. */
  readonly contextId: string | undefined;
}

interface Raw extends EntityState {
  readonly contextId: string | undefined;
}

/**
 * The states of the entities, built from the compressed events of `subscribe_entities`. The last values of an entity
 * are kept by the id of its registry entry, so that they survive a rename and a new subscription.
 */
export class EntityStates {
  readonly #raw = new Map<string, Raw>();
  readonly #lastUsableStates = new Map<string, EntityState>();
  #idOf: (entityId: string) => string = (entityId) => entityId;

  /** A new subscription begins: it sends the states of these entities again. The values of all others are forgotten. */
  begin(entities: ReadonlyMap<string, { readonly id: string }>): void {
    this.#idOf = (entityId) => entities.get(entityId)?.id ?? entityId;
    this.#raw.clear();
    const ids = new Set([...entities.values()].map(({ id }) => id));
    for (const id of this.#lastUsableStates.keys()) if (!ids.has(id)) this.#lastUsableStates.delete(id);
  }

  /** Applies an event. Returns the entities that it speaks of, and those that it removes. */
  apply(event: unknown): { readonly changed: readonly string[]; readonly removed: readonly string[] } {
    const changed: string[] = [];
    const removed: string[] = [];
    if (!isJsonObject(event)) return { changed, removed };
    for (const [entityId, state] of entriesOf(event.a)) {
      if (!isJsonObject(state)) continue;
      this.#set(entityId, {
        state: String(state.s ?? ""),
        attributes: isJsonObject(state.a) ? state.a : {},
        contextId: contextOf(state.c),
      });
      changed.push(entityId);
    }
    for (const [entityId, difference] of entriesOf(event.c)) {
      const before = this.#raw.get(entityId);
      if (!before || !isJsonObject(difference)) continue;
      this.#set(entityId, overlaid(before, difference));
      changed.push(entityId);
    }
    for (const entityId of Array.isArray(event.r) ? event.r : []) {
      if (typeof entityId === "string" && this.#raw.delete(entityId)) removed.push(entityId);
    }
    return { changed, removed };
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

  #set(entityId: string, raw: Raw): void {
    this.#raw.set(entityId, raw);
    if (isUsable(raw)) this.#lastUsableStates.set(this.#idOf(entityId), raw);
  }
}

/** `unavailable`: the device is offline. `unknown`: no value yet. `restored`: from before a restart of the instance. */
function isUsable({ state, attributes }: EntityState): boolean {
  return state !== "unavailable" && state !== "unknown" && attributes.restored !== true;
}

function overlaid(before: Raw, { "+": added, "-": lost }: JsonObject): Raw {
  const set = isJsonObject(added) ? added : {};
  const names = isJsonObject(lost) && Array.isArray(lost.a) ? lost.a : [];
  const attributes = { ...before.attributes, ...(isJsonObject(set.a) && set.a) };
  for (const name of names) delete attributes[name];
  return {
    state: typeof set.s === "string" ? set.s : before.state,
    attributes,
    contextId: contextOf(set.c) ?? before.contextId,
  };
}

/** A context is sent as its id, or as an object with a parent or a user. */
function contextOf(context: unknown): string | undefined {
  if (typeof context === "string") return context;
  return isJsonObject(context) && typeof context.id === "string" ? context.id : undefined;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
