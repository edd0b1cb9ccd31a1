import type { Sql } from "../sql.ts";

/**
 * SQL for a table of tokens that is searched by owner and grant. SQLite must be told its index: it has no statistics, and
 * would read all tokens of the owner by the primary key.
 */
export function tokensByGrant(sql: Pick<Sql, "dialect">, table: "access_tokens" | "refresh_tokens"): string {
  return sql.dialect === "sqlite" ? `${table} AS t INDEXED BY ${table}_of_grant` : `${table} AS t`;
}
