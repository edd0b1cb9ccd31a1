import { isDeepStrictEqual } from "node:util";
import type { EntityState } from "./instance.ts";

type Wire = Record<string, unknown>;

/**
 * The whole state of an entity, as `subscribe_entities` sends it. `s`: state, `a`: attributes, `c`: id of the context,
 * `lc`: last_changed, `lu`: last_updated, which is left out when it equals `lc`.
 */
export function compressedState({ state, attributes, contextId, lastChanged, lastUpdated }: EntityState): Wire {
  const times = lastChanged === lastUpdated ? { lc: lastChanged } : { lc: lastChanged, lu: lastUpdated };
  return { s: state, a: attributes, c: contextId, ...times };
}

/** The difference between two states: "+" has new values, "-" removed attributes. A new `lc` is last_updated too. */
export function compressedDifference(before: EntityState, after: EntityState): Wire {
  const added: Wire = {};
  if (after.state !== before.state) added.s = after.state;
  if (after.lastChanged !== before.lastChanged) added.lc = after.lastChanged;
  else if (after.lastUpdated !== before.lastUpdated) added.lu = after.lastUpdated;
  if (after.contextId !== before.contextId) added.c = after.contextId;
  const set = Object.entries(after.attributes).filter(
    ([name, value]) => !isDeepStrictEqual(before.attributes[name], value),
  );
  if (set.length > 0) added.a = Object.fromEntries(set);
  const removed = Object.keys(before.attributes).filter((name) => !Object.hasOwn(after.attributes, name));
  return { "+": added, ...(removed.length > 0 && { "-": { a: removed } }) };
}

/** The whole state as `get_states` sends it. */
export function plainState(entityId: string, { state, attributes, contextId, lastChanged, lastUpdated }: EntityState) {
  return {
    entity_id: entityId,
    state,
    attributes,
    last_changed: new Date(lastChanged * 1_000).toISOString(),
    last_updated: new Date(lastUpdated * 1_000).toISOString(),
    context: { id: contextId, parent_id: null, user_id: null },
  };
}
