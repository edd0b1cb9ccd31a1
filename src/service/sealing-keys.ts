import { existsSync } from "node:fs";
import { credentialContext as assistantCredentialContext } from "../assistants/grants.ts";
import { settingsContext } from "../assistants/outlets.ts";
import { ConfigurationError } from "../config/config.ts";
import { addressContext, secretContext } from "../events/webhooks/webhooks.ts";
import { credentialContext, tokenContext } from "../federation/link-key.ts";
import { answerContext } from "../idempotency/idempotent-writes.ts";
import { sessionContext } from "../link-sessions/session-secrets.ts";
import type { UserId } from "../model/ids.ts";
import { keysFromFile, sealingFromFile } from "../store/keys/key-file.ts";
import type { Sealing } from "../store/keys/sealing.ts";
import { adoptKey, changeUsedKeys, usedKeys, WrongKey } from "../store/keys/used-keys.ts";
import type { OpenStore } from "../store/seam.ts";
import type { SealedLocation } from "../store/tables/sealed-values.ts";

/**
 * Reads the keys that seal values of the store. A store with sealed values needs the keys that sealed them: without one
 * of them the service refuses to start, and it never creates a new key as a replacement. `mayLackKeys` is for commands
 * that repair a lost key.
 */
export async function sealingFor(store: OpenStore, keyFile: string, { mayLackKeys = false } = {}): Promise<Sealing> {
  if (!existsSync(keyFile) && !mayLackKeys && (await mayHaveNewKey(store)))
    asConfigurationError(() => keysFromFile(keyFile));
  if (!existsSync(keyFile) && !mayLackKeys) {
    const used = await store.read(usedKeys);
    throw new WrongKey(keyFile, undefined, used, await sealedWith(store, used));
  }
  const sealing = asConfigurationError(() => sealingFromFile(keyFile, { mayBeMissing: mayLackKeys }));
  if (mayLackKeys) return sealing;
  const used = await store.transaction((tx) => adoptKey(tx, sealing.keyId));
  const missing = used.filter((keyId) => !sealing.keyIds.includes(keyId));
  if (missing.length === 0) return sealing;
  if (!(await mayHaveNewKey(store))) {
    throw new WrongKey(keyFile, sealing.keyIds, missing, await sealedWith(store, missing));
  }
  await store.transaction((tx) => changeUsedKeys(tx, () => [sealing.keyId]));
  return sealing;
}

/**
 * Whether a new key would lose no sealed value. On a shared store the answer is no as soon as one key is in use: another
 * node may be sealing a value with it right now.
 */
async function mayHaveNewKey(store: OpenStore): Promise<boolean> {
  return store.read(async (tx) => {
    if ((await usedKeys(tx)).length === 0) return true;
    return !store.isShared && (await tx.sealedValues.countByKey()).size === 0;
  });
}

/** Counts the stored values that were sealed with one of these keys. */
async function sealedWith(store: OpenStore, keyIds: readonly string[]): Promise<number> {
  const counts = await store.read((tx) => tx.sealedValues.countByKey());
  return keyIds.reduce((sum, keyId) => sum + (counts.get(keyId) ?? 0), 0);
}

function asConfigurationError<Result>(attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    throw new ConfigurationError([(error as Error).message.replace(/\.$/, "")]);
  }
}

/** The context that a sealed value is bound to: a value copied to another row does not open there. */
export function sealingContext(location: SealedLocation): string {
  if ("ecosystem" in location) {
    const context = location.kind === "link" ? tokenContext : credentialContext;
    return context(location.userId, location.ecosystem);
  }
  if (location.kind === "answer") return answerContext({ ownerId: location.ownerId, hash: location.id });
  if (location.kind === "assistant outlet") return settingsContext(location.id);
  if (location.kind === "assistant credential") {
    return assistantCredentialContext(location.ownerId as UserId, location.id);
  }
  if (location.kind === "link session") return sessionContext(location.id);
  return location.kind === "webhook" ? secretContext(location.id) : addressContext(location.id);
}
