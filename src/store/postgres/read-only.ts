import type { Sql } from "../sql.ts";
import { ReadOnlyServer } from "./errors.ts";

/** Rejects with instructions for the operator when this server accepts no writes. */
export async function refuseReadOnly(sql: Sql): Promise<void> {
  const [server] = await sql.all<{ isStandby: boolean; isReadOnly: boolean }>(
    `SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only') = 'on' AS "isReadOnly"`,
  );
  if (server?.isStandby) {
    throw new ReadOnlyServer(
      "The store can't be written: this PostgreSQL is a standby. Name the primary in BREEZEWAY_DATABASE_URL, or promote this server.",
    );
  }
  if (server?.isReadOnly) {
    throw new ReadOnlyServer(
      "The store can't be written: PostgreSQL has default_transaction_read_only on. Find out why (a full disk, maintenance), and turn it off.",
    );
  }
}
