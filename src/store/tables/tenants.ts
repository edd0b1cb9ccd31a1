import type { TenantId } from "../../model/ids.ts";
import { first, isStorable, type Sql } from "../sql.ts";

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
      // Chosen and given ids share one range, so that a later given one never meets a chosen one. Two that are added at
      // once would be given the same: one waits for the other.
      if (sql.dialect === "postgres") await sql.run("LOCK TABLE tenants IN SHARE ROW EXCLUSIVE MODE");
      const row = await first(
        sql.all<{ id: TenantId }>(
          `INSERT INTO tenants (id, name, created_ms)
           VALUES (COALESCE($1, (SELECT COALESCE(MAX(id), 0) + 1 FROM tenants)), $2, $3)
           ON CONFLICT DO NOTHING RETURNING id`,
          [id ?? null, name, await sql.nowMs()],
        ),
      );
      return row?.id;
    },
    byId: (id) => first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE id = $1`, [id])),
    // Text that can't be stored is nobody's name: who logs in with it is told so as with any wrong name.
    byName: async (name) =>
      isStorable(name)
        ? first(sql.all<TenantRow>(`SELECT ${columns} FROM tenants WHERE name = $1`, [name]))
        : undefined,
    list: () => sql.all<TenantRow>(`SELECT ${columns} FROM tenants ORDER BY id`),
  };
}
