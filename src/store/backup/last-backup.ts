import type { Store, Transaction } from "../seam.ts";

const setting = "last_backup";

type SettingStore = Store<Pick<Transaction, "settings" | "clock">>;

/**
 * The last backup that succeeded. It is a setting in the store, so that every node and every later start can read it.
 * `isShared` tells PostgreSQL from SQLite: `breezeway migrate` copies the setting to a database that was not backed up.
 */
interface LastBackup {
  readonly timeMs: number;
  readonly isShared: boolean;
}

/** Records a backup. `takenMs` is its time on the store's clock; without it the time is now. Returns the time. */
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
