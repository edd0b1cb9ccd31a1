import type { Store, Transaction } from "../seam.ts";

const setting = "last_backup";

type SettingStore = Store<Pick<Transaction, "settings" | "clock">>;

/**
 * The time of the last backup that succeeded, in the store itself: every node and every later start knows it. A copy of
 * the store on the other kind of database (breezeway migrate) was never backed up there, so the kind is kept too.
 */
interface LastBackup {
  readonly timeMs: number;
  readonly isShared: boolean;
}

/** Keeps that a backup was taken at that time on the store's clock: now, when left out. Answers the time. */
export function noteBackup(store: SettingStore, takenMs?: number): Promise<number> {
  return store.transaction(async (tx) => {
    const timeMs = takenMs ?? (await tx.clock.nowMs());
    const last: LastBackup = { timeMs, isShared: store.isShared };
    await tx.settings.set(setting, JSON.stringify(last));
    return timeMs;
  });
}

/** Undefined when no backup of this store is known of. */
export async function lastBackupMs(store: SettingStore): Promise<number | undefined> {
  const kept = await store.read((tx) => tx.settings.get(setting));
  if (kept === undefined) return undefined;
  const { timeMs, isShared } = JSON.parse(kept) as LastBackup;
  return isShared === store.isShared ? timeMs : undefined;
}
