import { DatabaseSync } from "node:sqlite";
import { newEpochName } from "../epoch-name.ts";

/** What a copy of the database says about itself. */
export interface StoredFacts {
  readonly schema: number;
  readonly keyIds: readonly string[];
}

/** Of a copy by its file, or of a database that is open already. */
export function factsOf(of: string | DatabaseSync): StoredFacts {
  if (typeof of !== "string") return factsIn(of);
  const database = new DatabaseSync(of);
  try {
    // Alone, without a log beside it: the file is moved, and must be whole by itself.
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

/** SQLite's codes for a malformed file, and for one that is no database (sqlite.org/rescode.html). */
const corrupt = 11;
const noDatabase = 26;

/** SQLite's own look at every page; undefined when all is well. */
export function damageOf(file: string): string | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    const found = String(Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
    return found === "ok" ? undefined : found;
  } catch (error) {
    // Only these speak about the file's content. Others, such as a full disk, say nothing about it.
    if (![corrupt, noDatabase].includes((error as { errcode?: number }).errcode ?? 0)) throw error;
    return (error as Error).message;
  } finally {
    database.close();
  }
}

/** More than can have happened since any backup. */
const eventsSince = 1_000_000_000;

/**
 * The world has gone on since this copy was made, and nobody knows how. A fan request that waited may have been sent
 * since: it counts as sent, so that it never is again. And whoever was told events beyond this copy must not go on in
 * the middle of others: all readers are told to read anew.
 */
export function comeBack(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA synchronous = FULL");
    // A copy of before there were these has nothing to forget.
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log_horizon'").get()) return;
    database.exec(`BEGIN;
      UPDATE commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued';
      INSERT INTO sqlite_sequence (name, seq) SELECT 'log', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'log');
      UPDATE sqlite_sequence SET seq = seq + ${eventsSince} WHERE name = 'log';
      UPDATE log_horizon SET entry_id = (SELECT seq FROM sqlite_sequence WHERE name = 'log');
      COMMIT`);
    // A copy from before epochs existed gets one when it is first opened.
    if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log_epoch'").get()) return;
    database.prepare("UPDATE log_epoch SET epoch = ?, takes_old_ids = 0").run(newEpochName());
  } finally {
    database.close();
  }
}
