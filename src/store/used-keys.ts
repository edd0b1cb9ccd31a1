import { BreezewayError } from "../model/errors.ts";
import type { Transaction } from "./seam.ts";

/** Names of keys, separated by spaces: the one that seals, then those that a rotation hasn't replaced everywhere yet. */
const setting = "sealing_key_id";

/** The keys without which something in this store can't be opened. */
export async function usedKeys(tx: Pick<Transaction, "settings">): Promise<readonly string[]> {
  return ((await tx.settings.get(setting)) ?? "").split(" ").filter((keyId) => keyId !== "");
}

export async function changeUsedKeys(
  tx: Pick<Transaction, "settings">,
  change: (used: readonly string[]) => readonly string[],
): Promise<void> {
  await tx.settings.set(setting, change(await usedKeys(tx)).join(" "));
}

/** The first key that a store meets becomes its own. */
export async function firstUsedKeys(tx: Pick<Transaction, "settings">, keyId: string): Promise<readonly string[]> {
  await tx.settings.getOrKeep(setting, keyId);
  return usedKeys(tx);
}

/** The keys at hand don't open what is in the store: with them, every stored token would be lost to us. */
export class WrongKey extends BreezewayError {
  readonly code = "wrong_key";

  constructor(file: string, held: readonly string[], needed: readonly string[]) {
    super(
      `BREEZEWAY_KEY_FILE: ${file} holds key ${held.join(", ")}, but this store's tokens are sealed with key ${needed.join(", ")}.`,
    );
  }
}
