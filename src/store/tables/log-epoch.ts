import type { Sql } from "../sql.ts";

/**
 * Names one uninterrupted history of the log. Positions of two epochs can't be compared: after a restore, or after a
 * fail-over to a standby that was behind, the store issues positions again that it issued before. So every id that
 * leaves the service (events, webhook messages) carries the epoch, and so does a node's position in the revocations.
 */
export interface LogEpoch {
  readonly name: string;
  /** Whether event ids without an epoch, issued before epochs existed, may belong to this history. */
  readonly takesOldIds: boolean;
}

export interface LogEpochTable {
  /** The epoch of this transaction's snapshot. Throws `StaleEpoch` when the database was restored or promoted since. */
  current(): Promise<LogEpoch>;
  /**
   * Begins a new epoch with that name if the database is not the one in which the present epoch began, or if `always` is
   * true. Returns whether it did.
   */
  renew(name: string, always: boolean): Promise<boolean>;
}

/**
 * The database is another one than the one in which the log's epoch began, or continues on another timeline. The store
 * begins an epoch and repeats the transaction; no caller sees this error.
 */
export class StaleEpoch extends Error {
  constructor() {
    super("the log's epoch began in another database, or on another timeline");
    this.name = "StaleEpoch";
  }
}

/**
 * Identifies the running database, as SQL. A restored dump changes the database's or the table's oid, a restored base
 * backup or a promoted standby the timeline, another server the system identifier. Only valid outside recovery.
 */
const databaseIdentity = `(SELECT system_identifier FROM pg_control_system()) || '/' ||
  substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || '/' ||
  (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'log'::regclass::oid`;

/** A standby shares the epoch of its primary until it is promoted. */
const isCurrent = `CASE WHEN pg_is_in_recovery() THEN true ELSE place = ${databaseIdentity} END AS "isCurrent"`;

interface EpochRow {
  readonly name: string;
  readonly takesOldIds: number;
  readonly isCurrent?: boolean;
}

export function logEpochTable(sql: Sql): LogEpochTable {
  const isPostgres = sql.dialect === "postgres";
  const columns = `epoch AS name, takes_old_ids AS "takesOldIds"`;
  return {
    async current() {
      const [row] = await sql.all<EpochRow>(`SELECT ${columns}${isPostgres ? `, ${isCurrent}` : ""} FROM log_epoch`);
      if (row!.isCurrent === false) throw new StaleEpoch();
      return { name: row!.name, takesOldIds: row!.takesOldIds === 1 };
    },
    async renew(name, always) {
      const identity = isPostgres ? databaseIdentity : "''";
      const [row] = await sql.all<{ was: string; is: string }>(
        `SELECT place AS was, ${identity} AS "is" FROM log_epoch${isPostgres ? " FOR UPDATE" : ""}`,
      );
      if (row!.was === row!.is && !always) return false;
      await sql.run("UPDATE log_epoch SET place = $1", [row!.is]);
      // Empty: the store is new, or was migrated from SQLite. It continues its epoch in this database.
      if (row!.was === "" && !always) return false;
      await sql.run("UPDATE log_epoch SET epoch = $1, takes_old_ids = 0", [name]);
      // A queued command may have been sent in the lost part of the history. It must not be sent twice.
      for (const table of ["commands", "thing_commands"]) {
        await sql.run(`UPDATE ${table} SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued'`);
      }
      return true;
    },
  };
}
