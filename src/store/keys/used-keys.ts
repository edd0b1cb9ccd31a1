import { BreezewayError } from "../../model/errors.ts";
import type { Transaction } from "../seam.ts";

type SettingTables = Pick<Transaction, "settings">;

/** Ids of keys, separated by spaces: first the key that seals, then keys that a rotation hasn't replaced everywhere. */
const usedSetting = "sealing_key_id";
/** Ids of keys that a rotation has replaced, the newest last. */
const retiredSetting = "sealing_keys_retired";
const mostRetired = 50;

/** The keys that are needed to open the values in this store. */
export function usedKeys(tx: SettingTables): Promise<readonly string[]> {
  return idsIn(tx, usedSetting);
}

export async function changeUsedKeys(
  tx: SettingTables,
  change: (used: readonly string[]) => readonly string[],
): Promise<void> {
  await tx.settings.set(usedSetting, change(await usedKeys(tx)).join(" "));
}

/** The store's keys. A store that has none yet adopts this one. */
export async function adoptKey(tx: SettingTables, keyId: string): Promise<readonly string[]> {
  await tx.settings.getOrKeep(usedSetting, keyId);
  return usedKeys(tx);
}

/** Keys that were replaced. A key file whose first key is among them is an old copy. */
export function retiredKeys(tx: SettingTables): Promise<readonly string[]> {
  return idsIn(tx, retiredSetting);
}

export async function retireKeys(tx: SettingTables, keyIds: readonly string[]): Promise<void> {
  const known = (await retiredKeys(tx)).filter((keyId) => !keyIds.includes(keyId));
  await tx.settings.set(retiredSetting, [...known, ...keyIds].slice(-mostRetired).join(" "));
}

async function idsIn(tx: SettingTables, setting: string): Promise<readonly string[]> {
  return ((await tx.settings.get(setting)) ?? "").split(" ").filter((keyId) => keyId !== "");
}

/** The key file lacks a key that is needed to open values in the store. */
export class WrongKey extends BreezewayError {
  readonly code = "wrong_key";

  /** `inFile` is undefined when there is no file. `values` is the number of values that can't be opened, if known. */
  constructor(file: string, inFile: readonly string[] | undefined, missing: readonly string[], values?: number) {
    const found = inFile ? `holds key ${inFile.join(", ")}` : "does not exist";
    const counted = values === 1 ? "1 value in this store is" : `${values} values in this store are`;
    const sealed = values ? counted : "this store is";
    const drops = missing.map((keyId) => `breezeway key drop --key ${keyId}`).join(", ");
    super(
      `BREEZEWAY_KEY_FILE: ${file} ${found}, but ${sealed} sealed with key ${missing.join(", ")}. Put that key back: it is in the key file that was used before, on the other nodes, and in the copy that you keep with your backups. If it is lost for good, drop the values that it sealed. Run: ${drops} (docs/operations.md, A lost key).`,
    );
  }
}
