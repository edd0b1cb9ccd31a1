import type { Sql } from "../sql.ts";

/**
 * A dump that was restored to another server brings the log with the old server's transaction ids, and the new one
 * counts its own from the beginning: what happens now would stand before what happened then, and followers of the log
 * would wait for ever. Found so, the old entries are put before everything new, those that webhooks have been told
 * before those that they haven't. Whoever reads events begins anew, and a fan request that waited counts as sent: nobody
 * knows what has become of it since.
 */
export async function comeBackIfRestored(sql: Sql): Promise<void> {
  const [{ isAhead } = { isAhead: false }] = await sql.all<{ isAhead: boolean }>(
    `SELECT (SELECT MAX(xid) FROM log) > pg_current_xact_id()
       OR (SELECT MAX(transaction_id) FROM webhook_feed) > pg_current_xact_id()::text::bigint
       OR (SELECT MAX(transaction_id) FROM log_horizon) > pg_current_xact_id()::text::bigint AS "isAhead"`,
  );
  if (!isAhead) return;
  for (const statement of [
    `UPDATE log SET xid = CASE WHEN (xid::text::bigint, id) > (SELECT transaction_id, entry_id FROM webhook_feed)
       THEN '${before.untold}'::xid8 ELSE '${before.told}'::xid8 END`,
    `UPDATE webhook_feed SET transaction_id = ${before.told}, entry_id = ${Number.MAX_SAFE_INTEGER}`,
    `UPDATE webhooks SET from_transaction = ${before.told}, from_entry = ${Number.MAX_SAFE_INTEGER}`,
    "UPDATE log_horizon SET transaction_id = pg_current_xact_id()::text::bigint, entry_id = 0",
    "UPDATE commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued'",
    "DELETE FROM nodes",
  ]) {
    await sql.run(statement);
  }
}

/** Ids that no server gives out any more once it has been made. */
const before = { told: 3, untold: 4 };
