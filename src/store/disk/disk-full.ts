import { BreezewayError } from "../../model/errors.ts";

/** A file could not be written completely: the disk is full, or a quota or a limit for file sizes is reached. */
export class DiskFull extends BreezewayError {
  readonly code = "disk_full";
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota of this user is used up",
  EFBIG: "the file would be larger than this process may write (ulimit -f)",
};

/** SQLite's codes (sqlite.org/rescode.html) for a full disk, and for a write that the system refused. */
const sqliteFull = 13;
const sqliteWriteRefused = 778;

/** Says why there is no space, when the error means that; undefined for any other error. */
export function diskFullReason(error: unknown): string | undefined {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  if (errcode === sqliteFull) return reasons.ENOSPC;
  // SQLite hides the system's error code: a quota and a limit for file sizes both give this code.
  if (errcode === sqliteWriteRefused)
    return "the system refused the write: a disk quota, a file size limit, or a fault";
  return typeof code === "string" ? reasons[code] : undefined;
}
