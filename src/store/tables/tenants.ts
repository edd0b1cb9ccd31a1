import type { TenantId } from "../../model/ids.ts";
import { first, type Sql, storable } from "../sql.ts";

export interface TenantRow {
  readonly id: TenantId;
  readonly name: string;
  readonly createdMs: number;
}

export interface TenantTable {
  /** Undefined when the name or the id is taken. */
  add(tenant: { readonly name: string; readonly id?: TenantId }): Promise<TenantId | undefined>;
  byId(id: TenantId): Promise<TenantRow | undefined>;
  byName(name: string): Promise<TenantRow | undefined>;
  list(): Promise<TenantRow[]>;
}

const columns = `id, name, created_ms AS "createdMs"`;

export function tenantTable(sql: Sql): TenantTable {
  return {
    async add({ name, id }) {
      // Chosen and given ids share one range, so that a later given one never meets a chosen one.
      const row = await first(
        sql.all<{ id: TenantId }>(
          `INSERT INTO tenants (id, name, created_ms)
           VALUES (COALESCE($1, (SELECT COALESCE(MAX(id), 0) + 1 FROM tenants)), $2, $3)
           ON CONFLICT DO NOTHING RETURNING id`,
          [id ?? null, storable(name), await sql.nowMs()],
        ),
      );
      return row?.id;
    },
    byId: (id) => first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE id = $1`, [id])),
    byName: (name) => first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE name = $1`, [name])),
    list: () => sql.all<TenantRow>(`SELECT ${columns} FROM tenants ORDER BY id`),
  };
}
