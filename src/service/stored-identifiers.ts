import { randomBytes, randomUUID } from "node:crypto";
import type { NodeId } from "../model/ids.ts";
import type { OpenStore } from "../store/seam.ts";

/** The key that signs cursors. All nodes share it and it never changes, so that any node continues any list. */
export function cursorKey(store: OpenStore): Promise<string> {
  const fresh = randomBytes(32).toString("base64url");
  return store.transaction((tx) => tx.settings.getOrKeep("cursor_key", fresh));
}

/** On SQLite the only node keeps its id, and with it its links. On a shared store each start is a new node. */
export async function nodeId(store: OpenStore): Promise<NodeId> {
  const fresh = `node-${randomUUID()}`;
  return (store.isShared ? fresh : await store.transaction((tx) => tx.settings.getOrKeep("node_id", fresh))) as NodeId;
}
