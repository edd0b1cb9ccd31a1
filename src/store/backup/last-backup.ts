import type { Store, Transaction } from "../seam.ts";

const setting = "last_backup";

type SettingStore = Store<Pick<Transaction, "settings" | "clock">>;

/**
 * The last backup that succeeded. It is kept in the store, so that every node and every later start knows it. The kind
 * of database is kept too: `breezeway migrate` copies this entry, but the copy itself was never backed up.
 */
interface LastBackup {
  readonly timeMs: number;
  readonly isShared: boolean;
}

/** Records that a backup was taken at `takenMs` on the store's clock, by default now. Returns that time. */
export function recordBackup(store: SettingStore, takenMs?: number): Promise<number> {
  return store.transaction(async (tx) => {
    const timeMs = takenMs ?? (await tx.clock.nowMs());
    const last: LastBackup = { timeMs, isShared: store.isShared };
    await tx.settings.set(setting, JSON.stringify(last));
    return timeMs;
  });
}

/** Undefined when no backup of this store is known. */
export async function lastBackupMs(store: SettingStore): Promise<number | undefined> {
  const stored = await store.read((tx) => tx.settings.get(setting));
  if (stored === undefined) return undefined;
  const { timeMs, isShared } = JSON.parse(stored) as LastBackup;
  return isShared === store.isShared ? timeMs : undefined;
}
