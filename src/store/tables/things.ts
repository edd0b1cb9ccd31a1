import type { AccessScope } from "../../model/access-scope.ts";
import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { mayAlarmSql } from "../schema-steps/things.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";
import type { DeviceRow } from "./devices.ts";

/** A thing of a linked account. Descriptor, state and samples are JSON, as home/ and federation/ encode them. */
export interface ThingRow {
  readonly userId: UserId;
  readonly thingId: string;
  /** The virtual device of the link that reports the thing. */
  readonly deviceId: DeviceId;
  /** Identifies the thing within its account. */
  readonly key: string;
  readonly source: string;
  readonly kind: string;
  readonly room: string | null;
  readonly descriptor: string;
  readonly state: string;
  /** A hash of the last report, and its samples (home/thing-print.ts). */
  readonly print: number;
  readonly samples: string;
  /** When the ecosystem said that the thing is gone; null while it is there. */
  readonly goneMs: number | null;
}

/** What readers see of a thing. */
export type ShownThingRow = Omit<ThingRow, "print" | "samples">;

export type ThingMarkRow = Pick<ThingRow, "thingId" | "key" | "print" | "samples" | "goneMs">;

export interface ThingFilter {
  readonly kind?: string | undefined;
  readonly room?: string | undefined;
  readonly source?: string | undefined;
}

/** The position after which a page begins. */
export interface ThingPlace extends ThingFilter {
  readonly afterDevice: number;
  readonly afterThing: string;
}

/** Whose things to list: of one user, of these tenants, or of all. */
export interface SoundingFilter {
  readonly userId?: UserId | undefined;
  readonly tenantIds?: readonly TenantId[] | undefined;
}

export interface ThingTable {
  /** What the owner of a link needs in order to recognise changes. */
  marks(userId: UserId, deviceId: DeviceId): Promise<ThingMarkRow[]>;
  some(userId: UserId, thingIds: readonly string[]): Promise<ThingRow[]>;
  /** Within the access scope; gone things included. */
  within(accessScope: AccessScope, thingId: string): Promise<ThingRow | undefined>;
  /** The users of these tenants that have the thing. */
  ownersOf(thingId: string, tenantIds: readonly TenantId[]): Promise<UserId[]>;
  /** Present things of these devices, by device and thing. */
  ofDevices(
    devices: readonly Pick<DeviceRow, "userId" | "id">[],
    place: ThingPlace,
    limit: number,
  ): Promise<ShownThingRow[]>;
  /** The ids of a user's present things of this kind, ascending; with a room only those in it. */
  ofKind(userId: UserId, kind: string, room: string | undefined, limit: number): Promise<string[]>;
  /**
   * Present things that may sound an alarm, by user and thing, and of one user at most `soundingPerUser`: one home hides no
   * other. A cheap comparison of texts: callers decode the state.
   */
  findSounding(filter: SoundingFilter, limit: number): Promise<ShownThingRow[]>;
  /** Those of these devices that have a present thing that may sound an alarm. */
  soundingDevices(devices: readonly Pick<ThingRow, "userId" | "deviceId">[]): Promise<DeviceId[]>;
  /** Adds a thing, or replaces the one with the same id. */
  put(row: ThingRow): Promise<void>;
  /** Replaces what changes often. Cheaper than `put`. */
  setState(thing: Pick<ThingRow, "userId" | "thingId" | "state" | "print" | "samples">): Promise<void>;
  setGone(userId: UserId, thingIds: readonly string[], goneMs: number): Promise<void>;
  /** Removes gone things of a link with their alerts: those gone before `beforeMs`, and all but the `keep` newest. */
  trimGone(userId: UserId, deviceId: DeviceId, beforeMs: number, keep: number): Promise<void>;
  /** Returns the ids of the removed things that were not gone before. */
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<string[]>;
  removeOfUser(userId: UserId): Promise<number>;
}

const shownColumns = `t.user_id AS "userId", t.thing_id AS "thingId", t.device_id AS "deviceId", t.external_key AS "key",
  t.source, t.kind, t.room, t.descriptor, t.state, t.gone_ms AS "goneMs"`;
/** All columns of a thing `t`. */
export const thingColumns = `${shownColumns}, t.print, t.samples`;

/** Alarms of one user that a list shows at most. */
export const soundingPerUser = 20;

/** Present things of this alias that may sound an alarm. */
export const soundingSql = (alias: string) =>
  `${mayAlarmSql.replaceAll("state", `${alias}.state`)} AND ${alias}.gone_ms IS NULL`;

/** Most commits change one thing. The text is built once, because statements are found by their texts. */
const findOne = `SELECT ${thingColumns} FROM things t WHERE t.user_id = $1 AND t.thing_id = $2`;

export function thingTable(sql: Sql): ThingTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<ThingRow>(`SELECT ${thingColumns} FROM things t WHERE ${tail}`, parameters);
  const among = (column: string, position: number) =>
    sql.dialect === "postgres"
      ? `${column} = ANY($${position}::text[])`
      : `${column} IN (SELECT value FROM json_each($${position}))`;
  // On SQLite the things of a user are found by their devices: no index of things begins with the user.
  const ofUser =
    sql.dialect === "postgres"
      ? "t.user_id = $1"
      : "t.user_id = $1 AND t.device_id IN (SELECT d.id FROM devices d WHERE d.user_id = $1)";
  return {
    marks: (userId, deviceId) =>
      sql.all(
        `SELECT thing_id AS "thingId", external_key AS "key", print, samples, gone_ms AS "goneMs" FROM things
         WHERE user_id = $1 AND device_id = $2`,
        [userId, deviceId],
      ),
    some: (userId, thingIds) =>
      thingIds.length === 1
        ? sql.all<ThingRow>(findOne, [userId, thingIds[0]!])
        : rows(`t.user_id = $1 AND ${among("t.thing_id", 2)}`, [userId, thingIds]),
    async within(accessScope, thingId) {
      if (!isStorable(thingId)) return undefined;
      if (accessScope.kind === "user")
        return first(rows("t.user_id = $1 AND t.thing_id = $2", [accessScope.userId, thingId]));
      const tenant = "(SELECT u.tenant_id FROM users u WHERE u.id = t.user_id)";
      return first(rows(`t.thing_id = $1 AND ${tenant} = $2`, [thingId, accessScope.tenantId]));
    },
    async ownersOf(thingId, tenantIds) {
      const tenants = sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))";
      const found = await sql.all<{ userId: UserId }>(
        `SELECT t.user_id AS "userId" FROM things t WHERE t.thing_id = $1
           AND (SELECT u.tenant_id FROM users u WHERE u.id = t.user_id) ${tenants}`,
        [thingId, tenantIds],
      );
      return found.map(({ userId }) => userId);
    },
    async ofDevices(devices, { afterDevice, afterThing, kind, room, source }, limit) {
      const filters = Object.entries({ kind, room, source }).filter(([, value]) => value !== undefined);
      // No thing has a text that can't be stored.
      if (devices.length === 0 || filters.some(([, value]) => !isStorable(value!))) return [];
      const parameters: Parameter[] = [];
      const bound = (value: Parameter) => `$${parameters.push(value)}`;
      const [userIds, ids] = [devices.map(({ userId }) => userId), devices.map(({ id }) => id)];
      const requested =
        sql.dialect === "postgres"
          ? `SELECT p.u, p.d FROM unnest(${bound(userIds)}::int[], ${bound(ids)}::int[]) AS p (u, d)`
          : `SELECT u.value, d.value FROM json_each(${bound(userIds)}) u JOIN json_each(${bound(ids)}) d ON u.key = d.key`;
      return sql.all(
        `WITH asked (user_id, device_id) AS (${requested})
         SELECT ${shownColumns} FROM asked CROSS JOIN things t
         WHERE t.user_id = asked.user_id AND t.device_id = asked.device_id
           AND (t.device_id, t.thing_id) > (${bound(afterDevice)}, ${bound(afterThing)}) AND t.gone_ms IS NULL
           ${filters.map(([column, value]) => `AND t.${column} = ${bound(value!)}`).join(" ")}
         ORDER BY t.device_id, t.thing_id LIMIT ${bound(limit)}`,
        parameters,
      );
    },
    async ofKind(userId, kind, room, limit) {
      if (!isStorable(kind) || (room !== undefined && !isStorable(room))) return [];
      const found = await sql.all<{ thingId: string }>(
        `SELECT t.thing_id AS "thingId" FROM things t WHERE ${ofUser} AND t.kind = $2 AND t.gone_ms IS NULL
           ${room === undefined ? "" : "AND t.room = $4"} ORDER BY t.thing_id LIMIT $3`,
        [userId, kind, limit, ...(room === undefined ? [] : [room])],
      );
      return found.map(({ thingId }) => thingId);
    },
    async findSounding({ userId, tenantIds }, limit) {
      const parameters: Parameter[] = [];
      const bound = (value: Parameter) => `$${parameters.push(value)}`;
      const conditions: string[] = [];
      if (userId !== undefined) conditions.push(`AND t.user_id = ${bound(userId)}`);
      if (tenantIds !== undefined) {
        const tenants = bound(tenantIds);
        const inTenants =
          sql.dialect === "postgres" ? `= ANY(${tenants}::int[])` : `IN (SELECT value FROM json_each(${tenants}))`;
        conditions.push(`AND (SELECT u.tenant_id FROM users u WHERE u.id = t.user_id) ${inTenants}`);
      }
      return sql.all(
        `SELECT ${shownColumns} FROM things t WHERE ${soundingSql("t")} ${conditions.join(" ")}
           AND NOT EXISTS (SELECT 1 FROM things o WHERE ${soundingSql("o")} AND o.user_id = t.user_id
             AND o.thing_id < t.thing_id ORDER BY o.thing_id LIMIT 1 OFFSET ${soundingPerUser - 1})
         ORDER BY t.user_id, t.thing_id LIMIT ${bound(limit)}`,
        parameters,
      );
    },
    async soundingDevices(devices) {
      if (devices.length === 0) return [];
      const inUsers = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
      const inDevices = inUsers.replace("$1", "$2");
      // The plus keeps SQLite from the index by device, which leads to all things of these homes.
      const found = await sql.all<{ deviceId: DeviceId }>(
        `SELECT DISTINCT t.device_id AS "deviceId" FROM things t
         WHERE ${soundingSql("t")} AND t.user_id ${inUsers} AND +t.device_id ${inDevices}`,
        [[...new Set(devices.map(({ userId }) => userId))], devices.map(({ deviceId }) => deviceId)],
      );
      return found.map(({ deviceId }) => deviceId);
    },
    async put(row) {
      await sql.post(
        `INSERT INTO things (user_id, thing_id, device_id, external_key, source, kind, room, descriptor, state, print,
           samples, gone_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (user_id, thing_id) DO UPDATE SET device_id = excluded.device_id,
           external_key = excluded.external_key, source = excluded.source, kind = excluded.kind, room = excluded.room,
           descriptor = excluded.descriptor, state = excluded.state, print = excluded.print,
           samples = excluded.samples, gone_ms = excluded.gone_ms`,
        [
          row.userId,
          row.thingId,
          row.deviceId,
          row.key,
          row.source,
          row.kind,
          row.room,
          row.descriptor,
          row.state,
          row.print,
          row.samples,
          row.goneMs,
        ],
      );
    },
    async setState({ userId, thingId, state, print, samples }) {
      await sql.post("UPDATE things SET state = $3, print = $4, samples = $5 WHERE user_id = $1 AND thing_id = $2", [
        userId,
        thingId,
        state,
        print,
        samples,
      ]);
    },
    async setGone(userId, thingIds, goneMs) {
      await sql.run(`UPDATE things SET gone_ms = $3 WHERE user_id = $1 AND ${among("thing_id", 2)}`, [
        userId,
        thingIds,
        goneMs,
      ]);
    },
    async trimGone(userId, deviceId, beforeMs, keep) {
      const removed = await sql.all<Pick<ThingRow, "thingId">>(
        `DELETE FROM things WHERE user_id = $1 AND device_id = $2 AND gone_ms IS NOT NULL AND (gone_ms < $3
           OR thing_id NOT IN (SELECT g.thing_id FROM things g WHERE g.user_id = $1 AND g.device_id = $2
             AND g.gone_ms IS NOT NULL ORDER BY g.gone_ms DESC, g.thing_id LIMIT $4)) RETURNING thing_id AS "thingId"`,
        [userId, deviceId, beforeMs, keep],
      );
      if (removed.length === 0) return;
      await sql.run(`DELETE FROM thing_triggers WHERE user_id = $1 AND ${among("thing_id", 2)}`, [
        userId,
        removed.map(({ thingId }) => thingId),
      ]);
    },
    async removeOfDevice(userId, deviceId) {
      const removed = await sql.all<Pick<ThingRow, "thingId" | "goneMs">>(
        `DELETE FROM things WHERE user_id = $1 AND device_id = $2 RETURNING thing_id AS "thingId", gone_ms AS "goneMs"`,
        [userId, deviceId],
      );
      return removed.filter(({ goneMs }) => goneMs === null).map(({ thingId }) => thingId);
    },
    removeOfUser: (userId) => sql.run(`DELETE FROM things AS t WHERE ${ofUser}`, [userId]),
  };
}
