import type { TenantId } from "../../model/ids.ts";
import { insertRows } from "../inserted-rows.ts";
import type { Parameter, Sql } from "../sql.ts";

/** How many links of a tenant were in a state when an hour was counted. */
export interface LinkHourRow {
  readonly tenantId: TenantId;
  readonly state: string;
  readonly links: number;
}

export interface LinkHourTable {
  /** Keeps the counts of an hour. False, and nothing is kept, when the hour was counted already. */
  keep(hourMs: number, counts: readonly LinkHourRow[]): Promise<boolean>;
  isCounted(hourMs: number): Promise<boolean>;
  /** The hours from a time on that were counted. In each of them, a tenant without rows had no link. */
  counted(sinceMs: number): Promise<number[]>;
  /** The counts from a time on, of these tenants together, or of all. */
  sums(
    sinceMs: number,
    tenantIds: readonly TenantId[] | undefined,
  ): Promise<readonly { readonly hourMs: number; readonly state: string; readonly links: number }[]>;
  removeBefore(hourMs: number): Promise<void>;
}

export function linkHourTable(sql: Sql): LinkHourTable {
  return {
    async keep(hourMs, counts) {
      const added = await sql.run(
        "INSERT INTO counted_hours (hour_ms, counted_ms) VALUES ($1, $2) ON CONFLICT (hour_ms) DO NOTHING",
        [hourMs, await sql.nowMs()],
      );
      if (added === 0) return false;
      const rows = counts.map(({ tenantId, state, links }) => [tenantId, hourMs, state, links]);
      if (rows.length > 0) await insertRows(sql, "INSERT INTO link_hours (tenant_id, hour_ms, state, links)", rows);
      return true;
    },
    isCounted: async (hourMs) => (await sql.all("SELECT 1 FROM counted_hours WHERE hour_ms = $1", [hourMs])).length > 0,
    async counted(sinceMs) {
      const rows = await sql.all<{ hourMs: number }>(
        `SELECT hour_ms AS "hourMs" FROM counted_hours WHERE hour_ms >= $1 ORDER BY hour_ms`,
        [sinceMs],
      );
      return rows.map(({ hourMs }) => Number(hourMs));
    },
    async sums(sinceMs, tenantIds) {
      const parameters: Parameter[] = [sinceMs, ...(tenantIds ? [tenantIds] : [])];
      const among = sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))";
      const rows = await sql.all<{ hourMs: number; state: string; links: number }>(
        `SELECT hour_ms AS "hourMs", state, SUM(links) AS links FROM link_hours
         WHERE hour_ms >= $1 ${tenantIds ? `AND tenant_id ${among}` : ""} GROUP BY hour_ms, state ORDER BY hour_ms, state`,
        parameters,
      );
      return rows.map(({ hourMs, state, links }) => ({ hourMs: Number(hourMs), state, links: Number(links) }));
    },
    async removeBefore(hourMs) {
      await sql.run("DELETE FROM link_hours WHERE hour_ms < $1", [hourMs]);
      await sql.run("DELETE FROM counted_hours WHERE hour_ms < $1", [hourMs]);
    },
  };
}
