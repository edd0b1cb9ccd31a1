import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type Config, ConfigurationError } from "../config/config.ts";
import { isOnLoopback } from "../config/loopback.ts";
import { addressPlace, sealedPlace } from "../events/webhooks/webhooks.ts";
import { tokenPlace } from "../federation/link-key.ts";
import { answerPlace } from "../idempotency/idempotent-writes.ts";
import type { Identity } from "../identity/identity.ts";
import type { NodeId } from "../model/ids.ts";
import { keysFromFile, sealingFromFile } from "../store/keys/key-file.ts";
import type { Sealing } from "../store/keys/sealing.ts";
import { changeUsedKeys, firstUsedKeys, usedKeys, WrongKey } from "../store/keys/used-keys.ts";
import type { OpenStore } from "../store/seam.ts";
import type { SealedPlace } from "../store/tables/sealed-values.ts";

/**
 * Sealing with the keys of the file. A store that has sealed values needs the keys that sealed them: the service refuses
 * to start without one, and never makes a new key in its place. `mayLackKeys`: for commands that repair exactly this.
 */
export async function sealingFor(store: OpenStore, keyFile: string, { mayLackKeys = false } = {}): Promise<Sealing> {
  if (!existsSync(keyFile) && !mayLackKeys && (await mayHaveNewKey(store))) inWords(() => keysFromFile(keyFile));
  if (!existsSync(keyFile) && !mayLackKeys) {
    const used = await store.read(usedKeys);
    throw new WrongKey(keyFile, undefined, used, await sealedWith(store, used));
  }
  const sealing = inWords(() => sealingFromFile(keyFile, { mayBeMissing: mayLackKeys }));
  if (mayLackKeys) return sealing;
  const used = await store.transaction((tx) => firstUsedKeys(tx, sealing.keyId));
  const missing = used.filter((keyId) => !sealing.keyIds.includes(keyId));
  if (missing.length === 0) return sealing;
  if (!(await mayHaveNewKey(store))) {
    throw new WrongKey(keyFile, sealing.keyIds, missing, await sealedWith(store, missing));
  }
  await store.transaction((tx) => changeUsedKeys(tx, () => [sealing.keyId]));
  return sealing;
}

/** Whether no value is lost by another key. On a shared store other nodes may be about to seal with the present one. */
async function mayHaveNewKey(store: OpenStore): Promise<boolean> {
  return store.read(async (tx) => {
    if ((await usedKeys(tx)).length === 0) return true;
    return !store.isShared && (await tx.sealedValues.countByKey()).size === 0;
  });
}

async function sealedWith(store: OpenStore, keyIds: readonly string[]): Promise<number> {
  const counts = await store.read((tx) => tx.sealedValues.countByKey());
  return keyIds.reduce((sum, keyId) => sum + (counts.get(keyId) ?? 0), 0);
}

function inWords<Result>(attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    throw new ConfigurationError([(error as Error).message.replace(/\.$/, "")]);
  }
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
