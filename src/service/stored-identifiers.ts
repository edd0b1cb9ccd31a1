import { createCipheriv, createDecipheriv, createHmac, randomBytes, randomUUID } from "node:crypto";
import type { ThingIdOf } from "../federation/thing-marks.ts";
import type { DeviceId, NodeId, TenantId, UserId } from "../model/ids.ts";
import { nodeIdFor } from "../model/node-name.ts";
import type { OwnThingIds } from "../own-things/own-thing-ids.ts";
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
  const secret = await thingKey(store);
  return (userId, ecosystem, key) => {
    const digest = createHmac("sha256", secret)
      .update(JSON.stringify([userId, ecosystem, key]))
      .digest();
    return `t_${digest.subarray(0, thingIdBytes).toString("base64url")}`;
  };
}

/** The opaque ids of users at assistants, derived from the same key: they say nothing about the user. */
export async function agentUserIds(store: OpenStore): Promise<(tenantId: TenantId, userId: UserId) => string> {
  const secret = await thingKey(store);
  return (tenantId, userId) => {
    const digest = createHmac("sha256", secret)
      .update(JSON.stringify(["agent user", tenantId, userId]))
      .digest();
    return `a_${digest.subarray(0, thingIdBytes).toString("base64url")}`;
  };
}

/** 128 bits: 22 characters. */
const thingIdBytes = 16;

function thingKey(store: OpenStore): Promise<string> {
  const fresh = randomBytes(32).toString("base64url");
  return store.transaction((tx) => tx.settings.getOrKeep("thing_key", fresh));
}

/**
 * The ids of things that are derived from own devices: one AES block over a marker and the device's id. The marker has
 * 96 bits, so that the id of a linked thing, or a guess, decrypts to it with a probability of 2^-96.
 */
export async function ownThingIds(store: OpenStore): Promise<OwnThingIds> {
  const key = createHmac("sha256", await thingKey(store))
    .update("own things")
    .digest()
    .subarray(0, thingIdBytes);
  const marker = Buffer.from("own device:\0", "latin1");
  const block = Buffer.concat([marker], thingIdBytes);
  // In ECB mode without padding every block stands alone, so one cipher serves all ids. A new one costs ten times as much.
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  const decipher = createDecipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  return {
    thingIdOf(deviceId) {
      block.writeUInt32BE(deviceId, marker.length);
      return `t_${cipher.update(block).toString("base64url")}`;
    },
    deviceOf(thingId) {
      if (!/^t_[\w-]{22}$/.test(thingId)) return undefined;
      const encrypted = Buffer.from(thingId.slice(2), "base64url");
      // Four bits of the last character are unused: only one spelling is the id.
      if (encrypted.toString("base64url") !== thingId.slice(2)) return undefined;
      const decrypted = decipher.update(encrypted);
      if (!decrypted.subarray(0, marker.length).equals(marker)) return undefined;
      const id = decrypted.readUInt32BE(marker.length);
      return id > 0 && id < 2 ** 31 ? (id as DeviceId) : undefined;
    },
  };
}

/**
 * On SQLite the only node keeps its id, and with it its links, also when its port changes. On a shared store each start is
 * a new node.
 */
export async function nodeId(store: OpenStore, name: string | undefined): Promise<NodeId> {
  if (store.isShared) return nodeIdFor(randomUUID(), name) as NodeId;
  const fresh = nodeIdFor(randomUUID(), undefined);
  return (await store.transaction((tx) => tx.settings.getOrKeep("node_id", fresh))) as NodeId;
}
