import type { TenantId } from "../../model/ids.ts";
import { first, isStorable, type Sql } from "../sql.ts";
import { typeIdOf } from "./devices.ts";

/** The trait map of a tenant's device type, as JSON (home/trait-map.ts). */
export interface DeviceTypeMapRow {
  readonly tenantId: TenantId;
  readonly typeId: number;
  readonly typeName: string;
  readonly map: string;
  /** Increases with every change, so that a parsed map can be cached by it. */
  readonly changedMs: number;
}

export interface DeviceTypeMapTable {
  find(tenantId: TenantId, typeId: number): Promise<DeviceTypeMapRow | undefined>;
  byName(tenantId: TenantId, typeName: string): Promise<DeviceTypeMapRow | undefined>;
  /** All maps of a tenant, ascending by the id of the type. */
  ofTenant(tenantId: TenantId): Promise<DeviceTypeMapRow[]>;
  /** When each map of the tenant was changed last, by the id of its type. */
  versionsOf(tenantId: TenantId): Promise<ReadonlyMap<number, number>>;
  /** Locks the maps of a tenant against other changes until the transaction ends; returns how many there are. */
  lock(tenantId: TenantId): Promise<number>;
  /**
   * Sets the map of a type. A new name becomes a device type, unless the clients of the tenant have named `mostTypes`
   * types already: then nothing is changed. The caller holds the lock.
   */
  put(tenantId: TenantId, typeName: string, map: string, mostTypes?: number): Promise<void>;
  /** Returns whether there was a map. */
  remove(tenantId: TenantId, typeName: string): Promise<boolean>;
}

export function deviceTypeMapTable(sql: Sql): DeviceTypeMapTable {
  const rows = (tail: string, parameters: readonly (string | number)[]) =>
    sql.all<DeviceTypeMapRow>(
      `SELECT m.tenant_id AS "tenantId", m.type_id AS "typeId", t.name AS "typeName", m.map,
         m.changed_ms AS "changedMs"
       FROM device_type_maps m JOIN device_types t ON t.id = m.type_id WHERE m.tenant_id = $1 ${tail}`,
      parameters,
    );
  return {
    find: (tenantId, typeId) => first(rows("AND m.type_id = $2", [tenantId, typeId])),
    // No type has a name that can't be stored.
    byName: async (tenantId, typeName) =>
      isStorable(typeName) ? first(rows("AND t.name = $2", [tenantId, typeName])) : undefined,
    ofTenant: (tenantId) => rows("ORDER BY m.type_id", [tenantId]),
    async versionsOf(tenantId) {
      const found = await sql.all<Pick<DeviceTypeMapRow, "typeId" | "changedMs">>(
        `SELECT type_id AS "typeId", changed_ms AS "changedMs" FROM device_type_maps WHERE tenant_id = $1`,
        [tenantId],
      );
      return new Map(found.map(({ typeId, changedMs }) => [typeId, changedMs]));
    },
    async lock(tenantId) {
      if (sql.dialect === "postgres") {
        await sql.all("SELECT id FROM tenants WHERE id = $1 FOR NO KEY UPDATE", [tenantId]);
      }
      const counted = await sql.all<{ count: number }>(
        `SELECT CAST(COUNT(*) AS INTEGER) AS "count" FROM device_type_maps WHERE tenant_id = $1`,
        [tenantId],
      );
      return counted[0]!.count;
    },
    async put(tenantId, typeName, map, mostTypes) {
      if (mostTypes !== undefined && !(await mayName(sql, tenantId, typeName, mostTypes))) return;
      const typeId = await typeIdOf(sql, typeName, tenantId);
      const largest = sql.dialect === "postgres" ? "GREATEST" : "MAX";
      await sql.run(
        `INSERT INTO device_type_maps (tenant_id, type_id, map, changed_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, type_id) DO UPDATE SET map = excluded.map,
           changed_ms = ${largest}(excluded.changed_ms, device_type_maps.changed_ms + 1)`,
        [tenantId, typeId, map, await sql.nowMs()],
      );
    },
    async remove(tenantId, typeName) {
      if (!isStorable(typeName)) return false;
      const removed = await sql.run(
        `DELETE FROM device_type_maps WHERE tenant_id = $1
           AND type_id = (SELECT id FROM device_types WHERE name = $2)`,
        [tenantId, typeName],
      );
      return removed > 0;
    },
  };
}

/** Whether the type exists or the tenant may add it. */
async function mayName(sql: Sql, tenantId: TenantId, typeName: string, mostTypes: number): Promise<boolean> {
  const [found] = await sql.all<{ known: number; named: number }>(
    `SELECT CAST((SELECT COUNT(*) FROM device_types WHERE name = $1) AS INTEGER) AS known,
       CAST((SELECT COUNT(*) FROM device_types WHERE tenant_id = $2) AS INTEGER) AS named`,
    [typeName, tenantId],
  );
  return found!.known > 0 || found!.named < mostTypes;
}
