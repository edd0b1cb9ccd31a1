import { BreezewayError } from "../../model/errors.ts";
import type { Transaction } from "../seam.ts";

type SettingTables = Pick<Transaction, "settings">;

/** Ids of keys, separated by spaces: the one that seals, then those that a rotation hasn't replaced everywhere yet. */
const usedSetting = "sealing_key_id";
/** Ids of keys that a rotation has replaced, the newest last. */
const retiredSetting = "sealing_keys_retired";
const retiredRemembered = 50;

/** The keys without which something in this store can't be opened. */
export function usedKeys(tx: SettingTables): Promise<readonly string[]> {
  return idsIn(tx, usedSetting);
}

export async function changeUsedKeys(
  tx: SettingTables,
  change: (used: readonly string[]) => readonly string[],
): Promise<void> {
  await tx.settings.set(usedSetting, change(await usedKeys(tx)).join(" "));
}

/** The first key that a store meets becomes its own. */
export async function firstUsedKeys(tx: SettingTables, keyId: string): Promise<readonly string[]> {
  await tx.settings.getOrKeep(usedSetting, keyId);
  return usedKeys(tx);
}

/** Keys that were replaced. One of them at the head of a key file means that the file is an old copy. */
export function retiredKeys(tx: SettingTables): Promise<readonly string[]> {
  return idsIn(tx, retiredSetting);
}

export async function retireKeys(tx: SettingTables, keyIds: readonly string[]): Promise<void> {
  const known = (await retiredKeys(tx)).filter((keyId) => !keyIds.includes(keyId));
  await tx.settings.set(retiredSetting, [...known, ...keyIds].slice(-retiredRemembered).join(" "));
}

async function idsIn(tx: SettingTables, setting: string): Promise<readonly string[]> {
  return ((await tx.settings.get(setting)) ?? "").split(" ").filter((keyId) => keyId !== "");
}

/** The keys at hand don't open what is in the store: with them, every stored token would be lost to us. */
export class WrongKey extends BreezewayError {
  readonly code = "wrong_key";

  /** `held`: undefined when there is no file. `values`: how many can't be opened, where that was counted. */
  constructor(file: string, held: readonly string[] | undefined, missing: readonly string[], values?: number) {
    const found = held ? `holds key ${held.join(", ")}` : "is not there";
    const counted = values === 1 ? "1 value in this store is" : `${values} values in this store are`;
    const sealed = values ? counted : "this store is";
    const drops = missing.map((keyId) => `breezeway key drop --key ${keyId}`).join(", ");
    super(
      `BREEZEWAY_KEY_FILE: ${file} ${found}, but ${sealed} sealed with key ${missing.join(", ")}. Put that key back: it is in the key file that was used before, on the other nodes, and in the copy that you keep with your backups. If it is lost for good, drop what it sealed with: ${drops} (docs/operations.md, A lost key).`,
    );
  }
}
