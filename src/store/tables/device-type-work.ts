import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";
import { lastHeardSql } from "./devices.ts";

/** What happened to the things of a type when its trait map was set, replaced or removed. */
export type MapChange = "added" | "changed" | "gone";

/** Background work on all devices of a tenant's type: a map change to log, and devices that may have fallen silent. */
export interface DeviceTypeWorkRow {
  readonly tenantId: TenantId;
  readonly typeId: number;
  /** The map change that must be logged for each device; null when all of them know it. */
  readonly what: MapChange | null;
  /** When the map was changed. Devices that were added later know it already. */
  readonly begunMs: number;
  /** The work continues behind this device. */
  readonly afterId: number;
  /** When the next look is due. A node that works on the row sets it to the end of its lease. */
  readonly dueMs: number;
}

/** A device, as far as the work needs it. */
export interface TypeDevice {
  readonly id: DeviceId;
  readonly userId: UserId;
}

export interface DeviceTypeWorkTable {
  /** A map was changed: the work begins with the first device. A type whose things are new stays so. */
  begin(tenantId: TenantId, typeId: number, what: MapChange): Promise<void>;
  /** Adds work for types with a map that have none: an older version set their maps. */
  beginMissing(): Promise<void>;
  /** Also rows that are due after `aheadMs`: the clock was set back since. */
  due(nowMs: number, limit: number, aheadMs?: number): Promise<DeviceTypeWorkRow[]>;
  /** Changes the row unless another node has changed it; returns whether it did. */
  advance(row: DeviceTypeWorkRow, next: Pick<DeviceTypeWorkRow, "what" | "afterId" | "dueMs">): Promise<boolean>;
  /** Removes the row unless another node has changed it. */
  end(row: DeviceTypeWorkRow): Promise<boolean>;
  /** The next devices of the type that are older than the change of its map, ascending by id. */
  devices(row: DeviceTypeWorkRow, limit: number): Promise<TypeDevice[]>;
  /**
   * Those of the next `examined` devices whose last write is older than `beforeMs`, unless the log says so already.
   * `lastId` is the last examined device; undefined when none is left.
   */
  silent(
    row: DeviceTypeWorkRow,
    beforeMs: number,
    examined: number,
  ): Promise<{ readonly devices: readonly TypeDevice[]; readonly lastId: DeviceId | undefined }>;
}

const ofRow = "tenant_id = $1 AND type_id = $2";

export function deviceTypeWorkTable(sql: Sql): DeviceTypeWorkTable {
  return {
    async begin(tenantId, typeId, what) {
      await sql.run(
        `INSERT INTO device_type_work (tenant_id, type_id, what, begun_ms, after_id, due_ms)
         VALUES ($1, $2, $3, $4, 0, $4)
         ON CONFLICT (tenant_id, type_id) DO UPDATE SET after_id = 0, begun_ms = excluded.begun_ms,
           due_ms = excluded.due_ms,
           what = CASE WHEN device_type_work.what = 'added' AND excluded.what = 'changed' THEN 'added'
             ELSE excluded.what END`,
        [tenantId, typeId, what, await sql.nowMs()],
      );
    },
    async beginMissing() {
      const nowMs = await sql.nowMs();
      await sql.run(
        `INSERT INTO device_type_work (tenant_id, type_id, begun_ms, after_id, due_ms)
         SELECT m.tenant_id, m.type_id, CAST($1 AS BIGINT), 0, CAST($1 AS BIGINT) FROM device_type_maps m WHERE NOT EXISTS
           (SELECT 1 FROM device_type_work w WHERE w.tenant_id = m.tenant_id AND w.type_id = m.type_id)
         ON CONFLICT (tenant_id, type_id) DO NOTHING`,
        [nowMs],
      );
    },
    due: (nowMs, limit, aheadMs = Number.MAX_SAFE_INTEGER) =>
      sql.all(
        `SELECT tenant_id AS "tenantId", type_id AS "typeId", what, begun_ms AS "begunMs", after_id AS "afterId",
           due_ms AS "dueMs"
         FROM device_type_work WHERE due_ms <= $1 OR due_ms > $3 ORDER BY due_ms LIMIT $2`,
        [nowMs, limit, aheadMs],
      ),
    async advance({ tenantId, typeId, dueMs }, next) {
      const touched = await sql.run(
        `UPDATE device_type_work SET what = $4, after_id = $5, due_ms = $6 WHERE ${ofRow} AND due_ms = $3`,
        [tenantId, typeId, dueMs, next.what, next.afterId, next.dueMs],
      );
      return touched > 0;
    },
    async end({ tenantId, typeId, dueMs }) {
      const sqlText = `DELETE FROM device_type_work WHERE ${ofRow} AND due_ms = $3`;
      return (await sql.run(sqlText, [tenantId, typeId, dueMs])) > 0;
    },
    devices: ({ tenantId, typeId, afterId, begunMs }, limit) =>
      sql.all(
        `SELECT id, user_id AS "userId" FROM devices
         WHERE ${ofRow} AND id > $3 AND is_virtual = 0 AND created_ms <= $5 ORDER BY id LIMIT $4`,
        [tenantId, typeId, afterId, limit, begunMs],
      ),
    async silent({ tenantId, typeId, afterId }, beforeMs, examined) {
      const [end] = await sql.all<{ lastId: DeviceId | null }>(
        `SELECT MAX(id) AS "lastId" FROM
           (SELECT id FROM devices WHERE ${ofRow} AND id > $3 ORDER BY id LIMIT $4) AS examined`,
        [tenantId, typeId, afterId, examined],
      );
      const lastId = end?.lastId ?? undefined;
      if (lastId === undefined) return { devices: [], lastId };
      const devices = await sql.all<TypeDevice>(
        `SELECT id, user_id AS "userId" FROM
           (SELECT id, user_id, silent_ms, ${lastHeardSql} AS last_heard_ms FROM devices
            WHERE ${ofRow} AND id > $3 AND id <= $4 AND is_virtual = 0) AS examined
         WHERE last_heard_ms > 0 AND last_heard_ms < $5 AND (silent_ms IS NULL OR silent_ms < last_heard_ms)
         ORDER BY id`,
        [tenantId, typeId, afterId, lastId, beforeMs],
      );
      return { devices, lastId };
    },
  };
}
