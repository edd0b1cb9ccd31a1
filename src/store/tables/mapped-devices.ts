import type { AccessScope } from "../../model/access-scope.ts";
import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";
import { ownerIn } from "./devices.ts";
import { type SoundingFilter, soundingPerUser } from "./things.ts";

/** A device whose type has a trait map. */
export interface MappedDeviceRow {
  readonly id: DeviceId;
  readonly userId: UserId;
  readonly tenantId: TenantId;
  readonly typeId: number;
  readonly name: string;
  readonly room: string | null;
  readonly lastTimeMs: number;
  /** As in DeviceRow. */
  readonly describedMs?: number | null;
  readonly heardMs?: number | null;
  readonly mapChangedMs: number;
}

/** Which devices to list: of one type, or of these types for one user; with a room only those in it. */
export interface MappedDevicePlace {
  readonly afterId: number;
  readonly typeIds: readonly number[];
  readonly room?: string | undefined;
}

export interface MappedAttribute {
  readonly deviceId: DeviceId;
  readonly name: string;
  readonly value: string | null;
  readonly timeMs: number;
}

/** Reads of the devices from which things are derived. */
export interface MappedDeviceTable {
  /** The device if it is in the access scope and its type has a map. */
  within(accessScope: AccessScope, id: DeviceId): Promise<MappedDeviceRow | undefined>;
  /** Those of the user's devices whose types have a map, ascending by id. */
  some(userId: UserId, ids: readonly DeviceId[]): Promise<MappedDeviceRow[]>;
  /** The next devices of these types, ascending by id. With several types the cost grows with the user's devices. */
  page(accessScope: AccessScope, place: MappedDevicePlace, limit: number): Promise<MappedDeviceRow[]>;
  /** Notes whether the device's smoke or CO sensor reports a warning or an alarm. */
  setSounding(userId: UserId, deviceId: DeviceId, sounds: boolean): Promise<void>;
  /** Devices that are noted so, by user and device; of one user at most `soundingPerUser`. */
  sounding(filter: SoundingFilter, limit: number): Promise<MappedDeviceRow[]>;
  /** The attributes of these names, of these devices. */
  attributes(
    devices: readonly Pick<MappedDeviceRow, "userId" | "id">[],
    names: readonly string[],
  ): Promise<MappedAttribute[]>;
}

const columns = `d.id, d.user_id AS "userId", d.tenant_id AS "tenantId", d.type_id AS "typeId", d.name, d.room,
  d.last_time_ms AS "lastTimeMs", d.described_ms AS "describedMs", d.heard_ms AS "heardMs", m.changed_ms AS "mapChangedMs"`;
const source = "devices d JOIN device_type_maps m ON m.tenant_id = d.tenant_id AND m.type_id = d.type_id";

export function mappedDeviceTable(sql: Sql): MappedDeviceTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<MappedDeviceRow>(`SELECT ${columns} FROM ${source} WHERE d.is_virtual = 0 AND ${tail}`, parameters);
  return {
    within(accessScope, id) {
      const [column, owner] = ownerIn(accessScope);
      return first(rows(`${column} = $1 AND d.id = $2`, [owner, id]));
    },
    some(userId, ids) {
      const isOne = ids.length === 1;
      const among = sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))";
      return rows(`d.user_id = $1 AND d.id ${isOne ? "= $2" : among} ORDER BY d.id`, [userId, isOne ? ids[0]! : ids]);
    },
    async page(accessScope, { afterId, typeIds, room }, limit) {
      // No device is in a room that can't be stored.
      if (room !== undefined && !isStorable(room)) return [];
      const [column, owner] = ownerIn(accessScope);
      const [only, ...others] = typeIds;
      const among = sql.dialect === "postgres" ? "= ANY($3::int[])" : "IN (SELECT value FROM json_each($3))";
      // One type is searched by the index of a tenant's devices of a type.
      const isOne = only !== undefined && others.length === 0;
      const inRoom = room === undefined ? "" : "AND d.room = $5";
      return rows(
        `${column} = $1 AND d.id > $2 AND d.type_id ${isOne ? "= $3" : among} ${inRoom} ORDER BY d.id LIMIT $4`,
        [owner, afterId, isOne ? only : typeIds, limit, ...(room === undefined ? [] : [room])],
      );
    },
    async setSounding(userId, deviceId, sounds) {
      await sql.post(
        sounds
          ? "INSERT INTO sounding_devices (user_id, device_id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
          : "DELETE FROM sounding_devices WHERE user_id = $1 AND device_id = $2",
        [userId, deviceId],
      );
    },
    sounding({ userId, tenantIds }, limit) {
      const parameters: Parameter[] = [limit];
      const conditions: string[] = [];
      if (userId !== undefined) conditions.push(`AND s.user_id = $${parameters.push(userId)}`);
      if (tenantIds !== undefined) {
        const tenants = `$${parameters.push(tenantIds)}`;
        const inTenants =
          sql.dialect === "postgres" ? `= ANY(${tenants}::int[])` : `IN (SELECT value FROM json_each(${tenants}))`;
        conditions.push(`AND +d.tenant_id ${inTenants}`);
      }
      return sql.all(
        `SELECT ${columns} FROM sounding_devices s JOIN devices d ON d.user_id = s.user_id AND d.id = s.device_id
         JOIN device_type_maps m ON m.tenant_id = d.tenant_id AND m.type_id = d.type_id
         WHERE d.is_virtual = 0 ${conditions.join(" ")}
           AND NOT EXISTS (SELECT 1 FROM sounding_devices o WHERE o.user_id = s.user_id AND o.device_id < s.device_id
             ORDER BY o.device_id LIMIT 1 OFFSET ${soundingPerUser - 1})
         ORDER BY s.user_id, s.device_id LIMIT $1`,
        parameters,
      );
    },
    async attributes(devices, names) {
      const known = names.filter(isStorable);
      if (devices.length === 0 || known.length === 0) return [];
      const [userIds, ids] = [devices.map(({ userId }) => userId), devices.map(({ id }) => id)];
      const requested =
        sql.dialect === "postgres"
          ? `SELECT p.u, p.d, n.n FROM unnest($1::int[], $2::int[]) AS p (u, d) CROSS JOIN unnest($3::text[]) AS n (n)`
          : `SELECT u.value, d.value, n.value FROM json_each($1) u JOIN json_each($2) d ON u.key = d.key
             CROSS JOIN json_each($3) n`;
      return sql.all(
        `WITH asked (user_id, device_id, name) AS (${requested})
         SELECT a.device_id AS "deviceId", a.name, a.value, a.time_ms AS "timeMs" FROM asked CROSS JOIN attributes a
         WHERE a.user_id = asked.user_id AND a.device_id = asked.device_id AND a.number = -1 AND a.name = asked.name`,
        [userIds, ids, known],
      );
    },
  };
}
