import { DatabaseSync } from "node:sqlite";
import { newEpochName } from "../epoch-name.ts";

/** Facts that are stored in the database itself. */
export interface StoredFacts {
  readonly schema: number;
  readonly keyIds: readonly string[];
}

/** Reads the facts of a database that is open already, or of a file. */
export function factsOf(source: string | DatabaseSync): StoredFacts {
  if (typeof source !== "string") return factsIn(source);
  const database = new DatabaseSync(source);
  try {
    // Exclusive, so that SQLite makes no shared-memory file: the copy is moved later as one single file.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    return factsIn(database);
  } finally {
    database.close();
  }
}

function factsIn(database: DatabaseSync): StoredFacts {
  const { step } = database.prepare("SELECT MAX(step) AS step FROM schema_steps").get() as { step: number };
  const keys = database.prepare("SELECT value FROM settings WHERE name = 'sealing_key_id'").get();
  return {
    schema: step,
    keyIds: String(keys?.value ?? "")
      .split(" ")
      .filter((keyId) => keyId !== ""),
  };
}

/** SQLite's codes for a malformed database, and for a file that is not a database (sqlite.org/rescode.html). */
const corrupt = 11;
const notADatabase = 26;

/** Lets SQLite check every page, and returns the first damage that it finds. */
export function damageOf(file: string): string | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    const found = String(Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
    return found === "ok" ? undefined : found;
  } catch (error) {
    // Only these two codes describe the file's content. Others, such as a full disk, say nothing about it.
    if (![corrupt, notADatabase].includes((error as { errcode?: number }).errcode ?? 0)) throw error;
    return (error as Error).message;
  } finally {
    database.close();
  }
}

/** More log entries than any service can have written since its backup. */
const idsSkipped = 1_000_000_000;

/**
 * Prepares a restored copy for use. The service may have run on after the backup, so:
 * - A queued fan request or command may have been sent already. It is marked as sent, so that it is never sent twice.
 * - Clients may have read events that are not in this copy. The log continues with unused ids, a later horizon and a new
 *   epoch, so that every reader gets a resync.
 */
export function markRestored(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA synchronous = FULL");
    // A schema older than log_horizon had no readers of events.
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log_horizon'").get()) return;
    const hasThingCommands = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'thing_commands'").get();
    database.exec(`BEGIN;
      UPDATE commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued';
      ${hasThingCommands ? "UPDATE thing_commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued';" : ""}
      INSERT INTO sqlite_sequence (name, seq) SELECT 'log', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'log');
      UPDATE sqlite_sequence SET seq = seq + ${idsSkipped} WHERE name = 'log';
      UPDATE log_horizon SET entry_id = (SELECT seq FROM sqlite_sequence WHERE name = 'log');
      COMMIT`);
    // A schema without epochs gets its first one when it is opened.
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log_epoch'").get()) return;
    database.prepare("UPDATE log_epoch SET epoch = ?, takes_old_ids = 0").run(newEpochName());
  } finally {
    database.close();
  }
}
