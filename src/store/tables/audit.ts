import { ownerIdOf, type TenantId, type UserId } from "../../model/ids.ts";
import type { Parameter, Sql } from "../sql.ts";

/** An entry of the audit log: who did what, when and from where. It never holds a secret or text that a person typed. */
export interface AuditRow {
  readonly id: number;
  readonly timeMs: number;
  readonly act: string;
  readonly tenantId: TenantId | null;
  readonly userId: UserId | null;
  readonly clientId: string | null;
  /** The address of the caller, or `command` for an administrator's command. */
  readonly source: string;
  /** The name of the operator who acted, or `local` for a command on the machine; null for everyone else. */
  readonly operator: string | null;
  /** JSON of a few plain facts. */
  readonly detail: string;
}

export interface AuditTable {
  add(entry: Omit<AuditRow, "id" | "timeMs">): Promise<void>;
  /** The newest first. */
  list(filter: AuditFilter): Promise<AuditRow[]>;
  /**
   * How often each act occurred in each hour since that time, in the newest `most` entries of these tenants, or of all.
   * Hour 0 is the first one.
   */
  hours(
    sinceMs: number,
    tenantIds: readonly TenantId[] | undefined,
    most: number,
  ): Promise<{ readonly hour: number; readonly act: string; readonly count: number }[]>;
  removeBefore(timeMs: number): Promise<number>;
}

export interface AuditFilter {
  /** Entries of these tenants alone; undefined: all entries, also those of no tenant. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  /** Entries before this one. */
  readonly beforeId?: number | undefined;
  readonly act?: string | undefined;
  readonly operator?: string | undefined;
  readonly userId?: UserId | undefined;
  readonly clientId?: string | undefined;
  readonly limit: number;
}

const columns = `id, time_ms AS "timeMs", act, tenant_id AS "tenantId",
  CASE WHEN owner_id > 0 THEN owner_id END AS "userId", client_id AS "clientId", source, operator, detail`;

export function auditTable(sql: Sql): AuditTable {
  return {
    async add({ act, tenantId, userId, clientId, source, operator, detail }) {
      await sql.run(
        `INSERT INTO audit (owner_id, tenant_id, time_ms, act, client_id, source, operator, detail)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [ownerIdOf({ userId, tenantId }), tenantId, await sql.nowMs(), act, clientId, source, operator, detail],
      );
    },
    list(filter) {
      const { conditions, parameters } = conditionsOf(filter);
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      parameters.push(filter.limit);
      return sql.all(`SELECT ${columns} FROM audit ${where} ORDER BY id DESC LIMIT $${parameters.length}`, parameters);
    },
    hours(sinceMs, tenantIds, most) {
      const { conditions, parameters } = conditionsOf({ tenantIds, limit: most });
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const since = `CAST($${parameters.push(sinceMs)} AS BIGINT)`;
      const limit = `$${parameters.push(most)}`;
      return sql.all(
        `SELECT (n.time_ms - ${since}) / 3600000 AS hour, n.act, COUNT(*) AS count FROM
           (SELECT time_ms, act FROM audit ${where} ORDER BY id DESC LIMIT ${limit}) AS n
         WHERE n.time_ms >= ${since} GROUP BY 1, 2`,
        parameters,
      );
    },
    // Ids ascend with time, so the scan ends at the first entry that stays.
    removeBefore: (timeMs) =>
      sql.run(
        `DELETE FROM audit WHERE time_ms < $1 AND id <= COALESCE(
           (SELECT id FROM audit WHERE time_ms >= $1 ORDER BY id LIMIT 1), (SELECT MAX(id) FROM audit))`,
        [timeMs],
      ),
  };
}

/** The SQL conditions of a filter, and their parameters. */
function conditionsOf({ tenantIds, beforeId, act, operator, userId, clientId }: AuditFilter) {
  const conditions: string[] = [];
  const parameters: Parameter[] = [];
  const parameter = (value: Parameter) => `$${parameters.push(value)}`;
  if (tenantIds !== undefined) conditions.push(`tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`);
  const equal = { act, operator, client_id: clientId, owner_id: userId };
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
  }
  if (beforeId !== undefined) conditions.push(`id < ${parameter(beforeId)}`);
  return { conditions, parameters };
}
