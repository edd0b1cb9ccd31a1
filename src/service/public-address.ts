import type { Store, Transaction } from "../store/seam.ts";

const setting = "public_address";

type SettingStore = Store<Pick<Transaction, "settings">>;

/** Stores the address for clients, for commands that open the store without the settings of a node. */
export async function storePublicAddress(store: SettingStore, baseUrl: string): Promise<void> {
  if ((await storedPublicAddress(store)) === baseUrl) return;
  await store.transaction((tx) => tx.settings.set(setting, baseUrl));
}

/** Undefined before the first service has started. */
export function storedPublicAddress(store: SettingStore): Promise<string | undefined> {
  return store.read((tx) => tx.settings.get(setting));
}
