import type { Sql } from "../sql.ts";

/**
 * How long an entry may stay hidden before it is worth asking which transactions hide it. Most transactions end sooner,
 * and the server's list of sessions takes a millisecond to read.
 */
const shortWaitMs = 250;

/** Whether committed entries have been hidden for a while. Among several: one may have the time of a clock that ran ahead. */
const hidden = `SELECT MIN(time_ms) < extract(epoch FROM clock_timestamp()) * 1000 - $1 AS "areHidden" FROM
  (SELECT time_ms FROM log WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT 20) AS first`;

/**
 * The lowest transaction id that may still commit to this database. The sessions are read after the snapshot was taken,
 * so a session with an id of the snapshot is the one that got it. An id without a session has just ended or is being
 * prepared: it counts, because its entries are not in the snapshot.
 */
const oldestOfThisDatabase = `SELECT LEAST(pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned(),
    (SELECT MIN(running.id) FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id)
     WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity session WHERE session.backend_xid = running.id::xid
         AND session.datid <> (SELECT oid FROM pg_database WHERE datname = current_database()))
       AND NOT EXISTS (SELECT 1 FROM pg_prepared_xacts prepared WHERE prepared.transaction = running.id::xid
         AND prepared.database <> current_database())))::text AS id`;

/**
 * The transaction id on PostgreSQL below which no entry can appear any more, because all transactions below it have
 * ended. The parameter is what `readStableEntries` passes.
 */
export function unsettledFrom(parameter: string): string {
  return `COALESCE(${parameter}::text::xid8, pg_snapshot_xmin(pg_current_snapshot()))`;
}

/**
 * Reads the log below `unsettledFrom`. A snapshot's xmin covers all databases of its server, and a restore beside ours
 * may take hours. So when entries stay hidden, `read` is repeated without the transactions of other databases: these
 * never write this log.
 */
export async function readStableEntries<Result>(
  sql: Sql,
  read: (bound: string | null) => Promise<Result>,
): Promise<Result> {
  const [result, [found]] = await Promise.all([
    read(null),
    sql.all<{ areHidden: boolean | null }>(hidden, [shortWaitMs]),
  ]);
  if (!found?.areHidden) return result;
  const [, [oldest]] = await Promise.all([
    // Drops a list of sessions that an earlier statement of this transaction has read.
    sql.all("SELECT pg_stat_clear_snapshot()"),
    sql.all<{ id: string }>(oldestOfThisDatabase),
  ]);
  return read(oldest!.id);
}
