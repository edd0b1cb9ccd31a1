import { OutcomeUnknown, StoreUnavailable } from "../../model/errors.ts";

/** Busy, locked, out of memory, read-only, disk error, corrupt, full, can't open, no database (sqlite.org/rescode.html). */
const failureCodes = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

/** Whether the database itself failed (disk, lock, memory), rather than the statement (a constraint, a syntax error). */
export function isSqliteFailure(error: unknown): boolean {
  const code = primaryCode(error);
  return code !== undefined && failureCodes.has(code);
}

/** `file` is given while the database is opened: the operator must know which file to check. */
export function unavailable(error: unknown, file?: string): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = file
    ? `The file ${file} can't be used (${reason}). Check that it is a file of this user and that the disk has space.`
    : `The store can't be used now (${reason}). This transaction changed nothing.`;
  return new StoreUnavailable(sentence, { cause: error });
}

const ioError = 10;

/**
 * The error of a failed COMMIT. After an I/O error the commit record may be in the write-ahead log without a sync: this
 * process continues without the change, but after a crash SQLite could recover it. So the outcome is unknown.
 */
export function failedCommit(error: unknown): StoreUnavailable {
  if (primaryCode(error) !== ioError) return unavailable(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new OutcomeUnknown(`COMMIT failed (${reason}). The change may be stored or not.`, { cause: error });
}

/** The primary result code: the last byte of an extended code. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}
