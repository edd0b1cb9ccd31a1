import { ownerIdOf, type TenantId, type UserId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";

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
  /** JSON of a few plain facts. */
  readonly detail: string;
}

export interface AuditTable {
  add(entry: Omit<AuditRow, "id" | "timeMs">): Promise<void>;
  /** The newest first. */
  list(filter: AuditFilter): Promise<AuditRow[]>;
  removeBefore(timeMs: number): Promise<number>;
}

export interface AuditFilter {
  readonly tenantId?: TenantId;
  readonly limit: number;
}

const columns = `id, time_ms AS "timeMs", act, tenant_id AS "tenantId",
  CASE WHEN owner_id > 0 THEN owner_id END AS "userId", client_id AS "clientId", source, detail`;

export function auditTable(sql: Sql): AuditTable {
  return {
    async add({ act, tenantId, userId, clientId, source, detail }) {
      await sql.run(
        `INSERT INTO audit (owner_id, tenant_id, time_ms, act, client_id, source, detail)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [ownerIdOf({ userId, tenantId }), tenantId, await sql.nowMs(), act, clientId, source, detail],
      );
    },
    list: ({ tenantId, limit }) =>
      tenantId === undefined
        ? sql.all(`SELECT ${columns} FROM audit ORDER BY id DESC LIMIT $1`, [limit])
        : sql.all(`SELECT ${columns} FROM audit WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2`, [tenantId, limit]),
    // Ids ascend with time, so the scan ends at the first entry that stays.
    removeBefore: (timeMs) =>
      sql.run(
        `DELETE FROM audit WHERE time_ms < $1 AND id <= COALESCE(
           (SELECT id FROM audit WHERE time_ms >= $1 ORDER BY id LIMIT 1), (SELECT MAX(id) FROM audit))`,
        [timeMs],
      ),
  };
}
