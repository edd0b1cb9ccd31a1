import type { DeviceId, UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

export interface DeviceRow {
  readonly id: DeviceId;
  readonly userId: UserId;
  readonly typeId: number;
  readonly typeName: string;
  readonly name: string;
  /** A virtual device mirrors a linked account and has the 519 numbered attributes; any other has named ones. */
  readonly isVirtual: boolean;
  /** The time of its last commit: its version. */
  readonly lastTimeMs: number;
}

export interface DeviceTable {
  add(device: Pick<DeviceRow, "userId" | "typeName" | "name" | "isVirtual">): Promise<DeviceId>;
  ofUser(userId: UserId): Promise<DeviceRow[]>;
  find(userId: UserId, id: DeviceId): Promise<DeviceRow | undefined>;
  /** The devices of this user among the ids, ascending, their rows locked until the transaction ends. */
  lock(userId: UserId, ids: readonly DeviceId[]): Promise<DeviceRow[]>;
  /** What belongs to it is removed first; its id is never given again. */
  remove(userId: UserId, id: DeviceId): Promise<void>;
  setLastTime(userId: UserId, id: DeviceId, timeMs: number): Promise<void>;
  /** The versions of those that exist, for checking what memory holds. */
  versions(ids: readonly DeviceId[]): Promise<{ readonly id: DeviceId; readonly lastTimeMs: number }[]>;
}

const columns = `d.id, d.user_id AS "userId", d.type_id AS "typeId", t.name AS "typeName", d.name,
  d.is_virtual AS "isVirtual", d.last_time_ms AS "lastTimeMs"`;
const source = "devices d JOIN device_types t ON t.id = d.type_id";

export function deviceTable(sql: Sql): DeviceTable {
  const rows = async (tail: string, parameters: readonly (number | readonly number[])[]) =>
    (await sql.all<DeviceRow>(`SELECT ${columns} FROM ${source} ${tail}`, parameters)).map((row) => ({
      ...row,
      isVirtual: Boolean(row.isVirtual),
    }));
  const among = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
  return {
    async add({ userId, typeName, name, isVirtual }) {
      const typeId = await typeIdOf(sql, typeName);
      const added = await sql.all<{ id: DeviceId }>(
        `INSERT INTO devices (user_id, tenant_id, type_id, name, is_virtual, last_time_ms, created_ms)
         VALUES ($1, (SELECT tenant_id FROM users WHERE id = $1), $2, $3, $4, 0, $5) RETURNING id`,
        [userId, typeId, name, isVirtual ? 1 : 0, await sql.nowMs()],
      );
      return added[0]!.id;
    },
    ofUser: (userId) => rows("WHERE d.user_id = $1 ORDER BY d.id", [userId]),
    find: (userId, id) => first(rows("WHERE d.user_id = $1 AND d.id = $2", [userId, id])),
    lock: (userId, ids) =>
      rows(
        `WHERE d.id ${among} AND d.user_id = $2 ORDER BY d.id${sql.dialect === "postgres" ? " FOR NO KEY UPDATE OF d" : ""}`,
        [ids, userId],
      ),
    async remove(userId, id) {
      await sql.run("DELETE FROM devices WHERE user_id = $1 AND id = $2", [userId, id]);
    },
    async setLastTime(userId, id, timeMs) {
      await sql.run("UPDATE devices SET last_time_ms = $3 WHERE user_id = $1 AND id = $2", [userId, id, timeMs]);
    },
    versions: (ids) => sql.all(`SELECT id, last_time_ms AS "lastTimeMs" FROM devices WHERE id ${among}`, [ids]),
  };
}

async function typeIdOf(sql: Sql, name: string): Promise<number> {
  await sql.run("INSERT INTO device_types (name) VALUES ($1) ON CONFLICT (name) DO NOTHING", [name]);
  const found = await sql.all<{ id: number }>("SELECT id FROM device_types WHERE name = $1", [name]);
  return found[0]!.id;
}
