import { randomBytes, randomUUID } from "node:crypto";
import { type Config, ConfigurationError } from "./config.ts";
import { addressPlace, sealedPlace } from "./events/webhooks/webhooks.ts";
import { tokenPlace } from "./federation/link-key.ts";
import { answerPlace } from "./idempotency/idempotent-writes.ts";
import type { Identity } from "./identity/identity.ts";
import { isOnLoopback } from "./loopback.ts";
import type { NodeId } from "./model/ids.ts";
import { sealingFromFile } from "./store/key-file.ts";
import type { Sealing } from "./store/sealing.ts";
import type { OpenStore } from "./store/seam.ts";
import type { SealedPlace } from "./store/tables/sealed-values.ts";
import { firstUsedKeys, WrongKey } from "./store/used-keys.ts";

/** The key is checked before it is needed: with another one, every stored token would be lost to us. */
export async function sealingFor(store: OpenStore, keyFile: string): Promise<Sealing> {
  let sealing: Sealing;
  try {
    sealing = sealingFromFile(keyFile);
  } catch (error) {
    throw new ConfigurationError([(error as Error).message.replace(/\.$/, "")]);
  }
  const used = await store.transaction((tx) => firstUsedKeys(tx, sealing.keyId));
  if (!used.every((keyId) => sealing.keyIds.includes(keyId))) throw new WrongKey(keyFile, sealing.keyIds, used);
  return sealing;
}

export function sealedFor(place: SealedPlace): string {
  if (place.kind === "link") return tokenPlace(place.userId, place.ecosystem);
  if (place.kind === "answer") return answerPlace({ ownerId: place.ownerId, hash: place.id });
  return place.kind === "webhook" ? sealedPlace(place.id) : addressPlace(place.id);
}

/** Shared by all nodes and kept for good: a list begun yesterday on another node goes on today on this one. */
export function cursorKey(store: OpenStore): Promise<string> {
  const fresh = randomBytes(32).toString("base64url");
  return store.transaction((tx) => tx.settings.getOrKeep("cursor_key", fresh));
}

/** On SQLite the one node keeps its name, and with it its links; on a shared store each start is a new node. */
export async function nodeId(store: OpenStore): Promise<NodeId> {
  const fresh = `node-${randomUUID()}`;
  return (store.isShared ? fresh : await store.transaction((tx) => tx.settings.getOrKeep("node_id", fresh))) as NodeId;
}

/** The password of the demo's user is known to everybody (demo/keys.ts): with it, only this machine may reach the store. */
export async function refuseDemoAbroad(
  config: Config,
  { store, identity }: { readonly store: OpenStore; readonly identity: Identity },
): Promise<void> {
  if (isOnLoopback(config)) return;
  const demoUser = await store.read((tx) => tx.settings.get("demo_user"));
  if (demoUser === undefined || !(await identity.listUsers()).some(({ userId }) => String(userId) === demoUser)) return;
  throw new ConfigurationError([
    `BREEZEWAY_DATA: ${config.dataFolder} holds the demo, whose password is known. Choose another folder, or remove the demo's user with breezeway user remove --user ${demoUser}; until then it is served on loopback only`,
  ]);
}
