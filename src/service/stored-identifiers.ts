import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { ThingIdOf } from "../federation/thing-marks.ts";
import type { NodeId } from "../model/ids.ts";
import type { OpenStore } from "../store/seam.ts";

/** The key that signs cursors. All nodes share it and it never changes, so that any node continues any list. */
export function cursorKey(store: OpenStore): Promise<string> {
  const fresh = randomBytes(32).toString("base64url");
  return store.transaction((tx) => tx.settings.getOrKeep("cursor_key", fresh));
}

/**
 * Derives the ids of things from a key of the deployment. The key never changes, so a thing has the same id after its
 * account was unlinked and linked again.
 */
export async function thingIds(store: OpenStore): Promise<ThingIdOf> {
  const fresh = randomBytes(32).toString("base64url");
  const secret = await store.transaction((tx) => tx.settings.getOrKeep("thing_key", fresh));
  return (userId, ecosystem, key) => {
    const digest = createHmac("sha256", secret)
      .update(JSON.stringify([userId, ecosystem, key]))
      .digest();
    return `t_${digest.subarray(0, thingIdBytes).toString("base64url")}`;
  };
}

/** 128 bits: 22 characters. */
const thingIdBytes = 16;

/** On SQLite the only node keeps its id, and with it its links. On a shared store each start is a new node. */
export async function nodeId(store: OpenStore): Promise<NodeId> {
  const fresh = `node-${randomUUID()}`;
  return (store.isShared ? fresh : await store.transaction((tx) => tx.settings.getOrKeep("node_id", fresh))) as NodeId;
}
