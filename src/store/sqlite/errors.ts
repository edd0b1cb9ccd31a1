import { OutcomeUnknown, StoreUnavailable } from "../../model/errors.ts";

/** Busy, locked, out of memory, read-only, disk error, corrupt, full, can't open, no database (sqlite.org/rescode.html). */
const troubleCodes = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

/** Whether SQLite's own trouble failed a statement, and not what the statement asked for. */
export function isTrouble(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  // Extended codes carry the kind of trouble in their last byte.
  return typeof code === "number" && troubleCodes.has(code & 0xff);
}

/** `file`: where it is being opened, so that an operator knows what to look at. */
export function unavailable(error: unknown, file?: string): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = file
    ? `The file ${file} can't be used (${reason}). Check that it is a file of this user and that the disk has space.`
    : `The store can't be used now (${reason}). This transaction changed nothing.`;
  return new StoreUnavailable(sentence, { cause: error });
}

const ioError = 10;

/**
 * What a failed COMMIT means. After an I/O error the commit record may lie in the log without a sync: this process goes
 * on without the change, and a crash before the next commit could bring it back.
 */
export function failedCommit(error: unknown): StoreUnavailable {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof code !== "number" || (code & 0xff) !== ioError) return unavailable(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new OutcomeUnknown(`COMMIT failed (${reason}). The change may be stored or not.`, { cause: error });
}
