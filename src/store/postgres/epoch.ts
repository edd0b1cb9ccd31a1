import { newEpochName } from "../epoch-name.ts";
import type { Sql } from "../sql.ts";
import { logEpochTable } from "../tables/log-epoch.ts";

/** Begins a new epoch of the log if the database was restored or promoted since the present epoch began. */
export async function beginEpoch(sql: Sql): Promise<void> {
  await logEpochTable(sql).renew(newEpochName(), false);
  await reorderIfAhead(sql);
  await resetAssistantFeed(sql);
}

/**
 * Greater than every transaction id that the server has issued and the statement can find in the store: its snapshot
 * shows no later transaction. The own transaction's id is no such bound: others get later ones and commit meanwhile.
 */
const nextTransaction = "pg_snapshot_xmax(pg_current_snapshot())";

/**
 * Reorders the log of a dump that was restored to a server with smaller transaction ids. Otherwise new entries would sort
 * before old ones, and every reader of the log would wait for ever. The old entries get transaction ids that no server
 * issues any more. Entries that webhooks have received sort before those that they have not, so that webhooks continue
 * where they stopped.
 */
async function reorderIfAhead(sql: Sql): Promise<void> {
  const [{ isAhead } = { isAhead: false }] = await sql.all<{ isAhead: boolean }>(
    `SELECT (SELECT MAX(xid) FROM log) >= ${nextTransaction}
       OR GREATEST((SELECT MAX(transaction_id) FROM webhook_feed), (SELECT MAX(from_transaction) FROM webhooks),
         (SELECT MAX(transaction_id) FROM log_horizon)) >= ${nextTransaction}::text::bigint AS "isAhead"`,
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

/**
 * Without an epoch, everything is reported to the assistants again (assistants/reporter/feeder.ts). The entries of the
 * log so far are not: they would announce old alarms. Apart from `reorderIfAhead`, because reordering the log for this
 * position alone would disturb running nodes.
 */
async function resetAssistantFeed(sql: Sql): Promise<void> {
  const own = "pg_current_xact_id()::text::bigint";
  await sql.run(
    `UPDATE assistant_feed SET transaction_id = ${own}, entry_id = 0, urgent_transaction_id = ${own}, urgent_entry_id = 0,
       epoch = '' WHERE GREATEST(transaction_id, urgent_transaction_id) >= ${nextTransaction}::text::bigint`,
  );
}

/** Transaction ids that every server uses up before it accepts its first connection. */
const reservedIds = { sent: 3, unsent: 4 };
