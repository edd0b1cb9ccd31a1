import { newEpochName } from "../epoch-name.ts";
import type { Sql } from "../sql.ts";
import { logEpochTable } from "../tables/log-epoch.ts";

/** Begins a new epoch of the log if the database was restored or promoted since the present epoch began. */
export async function beginEpoch(sql: Sql): Promise<void> {
  await logEpochTable(sql).renew(newEpochName(), false);
  await reorderIfAhead(sql);
}

/**
 * Reorders the log of a dump that was restored to a server with smaller transaction ids. Otherwise new entries would sort
 * before old ones, and every reader of the log would wait for ever. The old entries get transaction ids that no server
 * issues any more. Entries that webhooks have received sort before those that they have not, so that webhooks continue
 * where they stopped.
 */
async function reorderIfAhead(sql: Sql): Promise<void> {
  const [{ isAhead } = { isAhead: false }] = await sql.all<{ isAhead: boolean }>(
    `SELECT (SELECT MAX(xid) FROM log) > pg_current_xact_id()
       OR (SELECT MAX(transaction_id) FROM webhook_feed) > pg_current_xact_id()::text::bigint
       OR (SELECT MAX(transaction_id) FROM log_horizon) > pg_current_xact_id()::text::bigint AS "isAhead"`,
  );
  if (!isAhead) return;
  for (const statement of [
    `UPDATE log SET xid = CASE WHEN (xid::text::bigint, id) > (SELECT transaction_id, entry_id FROM webhook_feed)
       THEN '${reservedIds.unsent}'::xid8 ELSE '${reservedIds.sent}'::xid8 END`,
    `UPDATE webhook_feed SET transaction_id = ${reservedIds.sent}, entry_id = ${Number.MAX_SAFE_INTEGER},
       thing_transaction_id = ${reservedIds.sent}, thing_entry_id = ${Number.MAX_SAFE_INTEGER}`,
    `UPDATE webhooks SET from_transaction = ${reservedIds.sent}, from_entry = ${Number.MAX_SAFE_INTEGER}`,
    // Event ids from before epochs existed are not resumed.
    "UPDATE log_horizon SET transaction_id = pg_current_xact_id()::text::bigint, entry_id = 0",
    // A command that the dump has as queued may have been sent since. It must not be sent again.
    "UPDATE commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued'",
    "UPDATE thing_commands SET state = 'sending', sent_ms = requested_ms WHERE state = 'queued'",
    "DELETE FROM nodes",
  ]) {
    await sql.run(statement);
  }
}

/** Transaction ids that every server uses up before it accepts its first connection. */
const reservedIds = { sent: 3, unsent: 4 };
