import type { ReportProgress } from "../cli/terminal/progress.ts";
import { BadParameter } from "../model/errors.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { Backups } from "../store/backup/backups.ts";
import { recordBackup } from "../store/backup/last-backup.ts";
import type { OpenStore } from "../store/seam.ts";

const postgresIsBackedUpOtherwise =
  "This store is PostgreSQL, which is backed up with its own tools: pg_dump, or its write-ahead log. Then run breezeway backed-up, so that the metrics show when (docs/operations.md).";

/** Takes a backup of a SQLite store and stores when. The backup is complete, whether or not its time can be stored. */
export async function takeBackup(
  { store, backups, report }: { readonly store: OpenStore; readonly backups: Backups; readonly report: Logger },
  to: string,
  withKey: boolean,
  onProgress: ReportProgress,
) {
  if (store.isShared) throw new BadParameter("to", postgresIsBackedUpOtherwise);
  const taken = await backups.take(to, withKey, onProgress);
  await recordBackup(store, Date.parse(taken.manifest.time)).catch((error) =>
    report.warn({ error }, "the time of the last backup could not be stored"),
  );
  return taken;
}
