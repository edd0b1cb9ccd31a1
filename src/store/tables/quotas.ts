import type { TenantId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";

/** A quota that an operator has set for a client, or for a tenant itself. */
export interface QuotaRow {
  readonly tenantId: TenantId;
  /** Null: the tenant's own. */
  readonly clientId: string | null;
  readonly kind: string;
  readonly value: number;
}

type Owner = Pick<QuotaRow, "tenantId" | "clientId">;

/** Quotas that differ from the defaults. They are removed with their client or tenant. */
export interface QuotaTable {
  all(): Promise<QuotaRow[]>;
  of(owner: Owner): Promise<QuotaRow[]>;
  set(quota: QuotaRow): Promise<void>;
  reset(owner: Owner, kind: string): Promise<void>;
}

/** The client id of a tenant's own quotas: a column of a primary key can't be null. */
const ownOfTenant = "";
const columns = `q.tenant_id AS "tenantId", NULLIF(q.client_id, '') AS "clientId", q.kind, q.value`;

export function quotaTable(sql: Sql): QuotaTable {
  return {
    all: () => sql.all(`SELECT ${columns} FROM quotas q ORDER BY q.tenant_id, q.client_id, q.kind`),
    of: ({ tenantId, clientId }) =>
      sql.all(`SELECT ${columns} FROM quotas q WHERE q.tenant_id = $1 AND q.client_id = $2 ORDER BY q.kind`, [
        tenantId,
        clientId ?? ownOfTenant,
      ]),
    async set({ tenantId, clientId, kind, value }) {
      await sql.run(
        `INSERT INTO quotas (tenant_id, client_id, kind, value) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, client_id, kind) DO UPDATE SET value = excluded.value`,
        [tenantId, clientId ?? ownOfTenant, kind, value],
      );
      sql.hint("quotas");
    },
    async reset({ tenantId, clientId }, kind) {
      await sql.run("DELETE FROM quotas WHERE tenant_id = $1 AND client_id = $2 AND kind = $3", [
        tenantId,
        clientId ?? ownOfTenant,
        kind,
      ]);
      sql.hint("quotas");
    },
  };
}
