import type { AccessScope } from "../../model/access-scope.ts";
import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { insertRows } from "../inserted-rows.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

export interface DeviceRow {
  readonly id: DeviceId;
  readonly userId: UserId;
  readonly typeId: number;
  readonly typeName: string;
  readonly name: string;
  /** The room of a device that is not virtual; null when none is set. */
  readonly room: string | null;
  /** A virtual device mirrors a linked account and has the 519 numbered attributes; any other has named ones. */
  readonly isVirtual: boolean;
  /** The time of its last commit, which is also its version. */
  readonly lastTimeMs: number;
  /** Whether an enabled alert watches an attribute of it. Only `lock` reads it; valid while the user's lock is held. */
  readonly isWatched?: boolean;
  /** The same for alerts on the things that it reports. */
  readonly areThingsWatched?: boolean;
  /** Only `lock`, `within` and `someOfTenant` read these five. */
  readonly tenantId?: TenantId;
  /** When the trait map of its type was changed last; null when the type has none. */
  readonly mapChangedMs?: number | null;
  /** The time of its last commit when the log last said that it fell silent. */
  readonly silentMs?: number | null;
  /** The time of the last commit that was not the device's own, and of its own last one before (`lastHeardMs`). */
  readonly describedMs?: number | null;
  readonly heardMs?: number | null;
}

/** The position in a paginated list of devices (keyset pagination), and its filter. */
export interface DevicePlace {
  /** Every id is larger than 0. */
  readonly afterId: number;
  readonly typeName: string | undefined;
}

/** By how much a commit grows the attributes of a device that is not virtual. Negative when they shrink. */
export interface Growth {
  /** Names that the device did not have. */
  readonly names: number;
  /** Bytes of names and values. */
  readonly bytes: number;
  /** Whether the commit erases an attribute. */
  readonly isErasing: boolean;
}

export interface NewDeviceRow extends Pick<DeviceRow, "userId" | "typeName" | "name" | "isVirtual"> {
  readonly room?: string | null;
  /** The id of the type, if the caller knows it. */
  readonly typeId?: number;
}

/** A device that is added with its first values. */
export interface NewOwnDeviceRow extends Pick<DeviceRow, "userId" | "typeId" | "name" | "room" | "lastTimeMs"> {
  /** What its first values take. */
  readonly growth: Growth;
}

export interface DeviceTable {
  add(device: NewDeviceRow): Promise<DeviceId>;
  /** Adds devices of a tenant's users that are not virtual; returns their ids in the same order. */
  addOwn(tenantId: TenantId, devices: readonly NewOwnDeviceRow[]): Promise<readonly DeviceId[]>;
  ofUser(userId: UserId): Promise<DeviceRow[]>;
  /** Whether the user has at least `count` devices that are not virtual. */
  hasOwn(userId: UserId, count: number): Promise<boolean>;
  /** Whether the user's tenant has at least `count` devices. The cost is an index scan over `count` entries. */
  hasInTenant(userId: UserId, count: number): Promise<boolean>;
  /** How many devices of a user are not virtual; at most `most` are counted. */
  countOwn(userId: UserId, most: number): Promise<number>;
  /** Counts all devices of a tenant by an index scan, which takes about 30 ms for a million. */
  countInTenant(tenantId: TenantId): Promise<number>;
  /** The id of a device type; undefined when no device ever had it. */
  findType(name: string): Promise<number | undefined>;
  /** Adds a type for a client of the tenant, unless it exists. Returns its id. */
  addType(name: string, tenantId: TenantId): Promise<number>;
  /** How many types the clients of a tenant have added. */
  countTypes(tenantId: TenantId): Promise<number>;
  find(userId: UserId, id: DeviceId): Promise<DeviceRow | undefined>;
  /** The device if it is in the access scope. Foreign and absent devices are both undefined. */
  within(accessScope: AccessScope, id: DeviceId): Promise<DeviceRow | undefined>;
  /** Those of the devices that belong to the tenant. */
  someOfTenant(tenantId: TenantId, ids: readonly DeviceId[]): Promise<DeviceRow[]>;
  /** The same for several tenants. */
  someOfTenants(ids: readonly DeviceId[], tenantIds: readonly TenantId[]): Promise<DeviceRow[]>;
  /** The next devices of the access scope, ascending by id; only those of the type, if there is one. */
  page(accessScope: AccessScope, place: DevicePlace, limit: number): Promise<DeviceRow[]>;
  /** Locks those of the ids that are devices of this user, in ascending order, until the transaction ends. */
  lock(userId: UserId, ids: readonly DeviceId[]): Promise<DeviceRow[]>;
  /** Locks those of the ids that are devices of this tenant, as `lock` does. The caller holds the users' locks. */
  lockOfTenant(tenantId: TenantId, ids: readonly DeviceId[]): Promise<DeviceRow[]>;
  /** Sets name and room. The caller holds the device's lock. */
  rename(userId: UserId, id: DeviceId, description: Pick<DeviceRow, "name" | "room">): Promise<void>;
  /** The last commit is a description or an alert's, not the device's: it was last heard at `heardMs`. The caller holds its lock. */
  setDescribed(userId: UserId, id: DeviceId, heardMs: number): Promise<void>;
  /** The caller removes what belongs to the device first. The id is never used again. */
  remove(userId: UserId, id: DeviceId): Promise<void>;
  /** Removes all devices of a user; returns their ids. */
  removeOfUser(userId: UserId): Promise<DeviceId[]>;
  /** Removes at most `limit` devices of the user that are not virtual. The caller removes what belongs to them. */
  removeOwn(userId: UserId, limit: number): Promise<DeviceId[]>;
  /** Sets the time of the last commit and, for a device that is not virtual, updates its attribute counters. */
  setLastTime(userId: UserId, id: DeviceId, timeMs: number, growth?: Growth): Promise<void>;
  /** The log says that these devices of the tenant have fallen silent since their last commits. The caller holds their locks. */
  setSilent(tenantId: TenantId, ids: readonly DeviceId[]): Promise<void>;
  /** The versions of the devices that exist, to validate cached states. */
  versions(
    devices: readonly Pick<DeviceRow, "userId" | "id">[],
  ): Promise<{ readonly id: DeviceId; readonly lastTimeMs: number }[]>;
}

const columns = `d.id, d.user_id AS "userId", d.type_id AS "typeId", t.name AS "typeName", d.name, d.room,
  d.is_virtual AS "isVirtual", d.last_time_ms AS "lastTimeMs"`;
/** Subqueries on indexes of alerts, which save statements of their own. */
const watched = `EXISTS (SELECT 1 FROM triggers w WHERE w.user_id = d.user_id AND w.device_id = d.id AND w.is_enabled = 1)
  AS "isWatched",
  EXISTS (SELECT 1 FROM thing_triggers w WHERE w.user_id = d.user_id AND w.device_id = d.id AND w.is_enabled = 1)
  AS "areThingsWatched"`;
/** A look-up by primary key, which saves a statement of its own. */
const mapped = `d.tenant_id AS "tenantId", (SELECT m.changed_ms FROM device_type_maps m
  WHERE m.tenant_id = d.tenant_id AND m.type_id = d.type_id) AS "mapChangedMs",
  d.silent_ms AS "silentMs", d.described_ms AS "describedMs", d.heard_ms AS "heardMs"`;
const source = "devices d JOIN device_types t ON t.id = d.type_id";

/** What is read of a device `d` of the type `t` that is locked. */
export const lockedColumns = `${columns}, ${watched}, ${mapped}`;

/**
 * Most commits have one device, and SQLite would join with a list even then. The text is built once, because statements
 * are found by their texts.
 */
const lockOneOnSqlite = `SELECT ${lockedColumns} FROM ${source} WHERE d.id = $1 AND d.user_id = $2`;

/** On both databases booleans are stored as numbers. */
export function lockedDevice(row: DeviceRow): DeviceRow {
  return {
    ...row,
    isVirtual: Boolean(row.isVirtual),
    isWatched: Boolean(row.isWatched),
    areThingsWatched: Boolean(row.areThingsWatched),
  };
}

export function deviceTable(sql: Sql): DeviceTable {
  const rows = async (tail: string, parameters: readonly Parameter[], selected = columns) =>
    (await sql.all<DeviceRow>(`SELECT ${selected} FROM ${source} ${tail}`, parameters)).map((row) => ({
      ...row,
      isVirtual: Boolean(row.isVirtual),
    }));
  const lockedRows = async (condition: string, parameters: readonly Parameter[]) => {
    const lock = sql.dialect === "postgres" ? "FOR NO KEY UPDATE OF d" : "";
    const select = `SELECT ${lockedColumns} FROM ${source} WHERE ${condition} ORDER BY d.id ${lock}`;
    return (await sql.all<DeviceRow>(select, parameters)).map(lockedDevice);
  };
  const removed = async (statement: string, parameters: readonly Parameter[]) =>
    (await sql.all<{ id: DeviceId }>(statement, parameters)).map(({ id }) => id).sort((a, b) => a - b);
  const among = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
  return {
    async add({ userId, typeName, typeId: knownTypeId, name, room = null, isVirtual }) {
      const typeId = knownTypeId ?? (await typeIdOf(sql, typeName));
      const added = await sql.all<{ id: DeviceId }>(
        `INSERT INTO devices (user_id, tenant_id, type_id, name, is_virtual, last_time_ms, created_ms, room,
           attribute_names, attribute_bytes, counted_ms)
         VALUES ($1, (SELECT tenant_id FROM users WHERE id = $1), $2, $3, $4, 0, $5, $6, 0, 0, 0) RETURNING id`,
        [userId, typeId, name, isVirtual ? 1 : 0, await sql.nowMs(), room],
      );
      return added[0]!.id;
    },
    async addOwn(tenantId, devices) {
      if (devices.length === 0) return [];
      const nowMs = await sql.nowMs();
      const insert = `INSERT INTO devices (tenant_id, created_ms, is_virtual, user_id, type_id, name, room, last_time_ms,
        attribute_names, attribute_bytes, erased_ms, counted_ms)`;
      if (sql.dialect === "sqlite") {
        const rows = devices.map(({ userId, typeId, name, room, lastTimeMs, growth: { names, bytes, isErasing } }) => {
          const erasedMs = isErasing ? lastTimeMs : null;
          return [tenantId, nowMs, 0, userId, typeId, name, room, lastTimeMs, names, bytes, erasedMs, lastTimeMs];
        });
        await insertRows(sql, insert, rows);
        // There is one writer, and AUTOINCREMENT issues consecutive ids.
        const [last] = await sql.all<{ id: number }>("SELECT last_insert_rowid() AS id");
        return devices.map((_, index) => (last!.id - devices.length + 1 + index) as DeviceId);
      }
      // Ids rise in the order of insertion.
      const added = await sql.all<{ id: DeviceId }>(
        `${insert} SELECT $1, $2, 0, user_id, type_id, name, room, last_time_ms, names, bytes, erased_ms, last_time_ms
         FROM unnest($3::int[], $4::int[], $5::text[], $6::text[], $7::bigint[], $8::int[], $9::bigint[], $10::bigint[])
           WITH ORDINALITY AS added (user_id, type_id, name, room, last_time_ms, names, bytes, erased_ms, place)
         ORDER BY place RETURNING id`,
        [
          tenantId,
          nowMs,
          devices.map(({ userId }) => userId),
          devices.map(({ typeId }) => typeId),
          devices.map(({ name }) => name),
          devices.map(({ room }) => room),
          devices.map(({ lastTimeMs }) => lastTimeMs),
          devices.map(({ growth }) => growth.names),
          devices.map(({ growth }) => growth.bytes),
          devices.map(({ growth, lastTimeMs }) => (growth.isErasing ? lastTimeMs : null)),
        ],
      );
      return added.map(({ id }) => id).sort((a, b) => a - b);
    },
    hasOwn: async (userId, count) =>
      (
        await sql.all("SELECT 1 FROM devices WHERE user_id = $1 AND is_virtual = 0 LIMIT 1 OFFSET $2", [
          userId,
          count - 1,
        ])
      ).length > 0,
    hasInTenant: async (userId, count) =>
      (
        await sql.all(
          "SELECT 1 FROM devices WHERE tenant_id = (SELECT tenant_id FROM users WHERE id = $1) LIMIT 1 OFFSET $2",
          [userId, count - 1],
        )
      ).length > 0,
    countOwn: (userId, most) =>
      countOf(
        sql,
        `SELECT COUNT(*) AS count FROM
           (SELECT 1 FROM devices WHERE user_id = $1 AND is_virtual = 0 LIMIT $2) AS counted`,
        [userId, most],
      ),
    countInTenant: (tenantId) => countOf(sql, "SELECT COUNT(*) AS count FROM devices WHERE tenant_id = $1", [tenantId]),
    findType: async (name) =>
      (await first(sql.all<{ id: number }>("SELECT id FROM device_types WHERE name = $1", [name])))?.id,
    addType: (name, tenantId) => typeIdOf(sql, name, tenantId),
    countTypes: (tenantId) =>
      countOf(sql, "SELECT COUNT(*) AS count FROM device_types WHERE tenant_id = $1", [tenantId]),
    ofUser: (userId) => rows("WHERE d.user_id = $1 ORDER BY d.id", [userId]),
    find: (userId, id) => first(rows("WHERE d.user_id = $1 AND d.id = $2", [userId, id])),
    within(accessScope, id) {
      const [column, owner] = ownerIn(accessScope);
      return first(rows(`WHERE ${column} = $1 AND d.id = $2`, [owner, id], `${columns}, ${mapped}`));
    },
    someOfTenant: (tenantId, ids) =>
      rows(`WHERE d.id ${among} AND d.tenant_id = $2`, [ids, tenantId], `${columns}, ${mapped}`),
    someOfTenants: (ids, tenantIds) => {
      const tenants = sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))";
      return rows(`WHERE d.id ${among} AND d.tenant_id ${tenants}`, [ids, tenantIds]);
    },
    async page(accessScope, { afterId, typeName }, limit) {
      const [column, owner] = ownerIn(accessScope);
      const after = `WHERE ${column} = $1 AND d.id > $2`;
      const order = "ORDER BY d.id LIMIT $3";
      if (typeName === undefined) return rows(`${after} ${order}`, [owner, afterId, limit]);
      // No type has a name that can't be stored.
      if (!isStorable(typeName)) return [];
      const ofType = "AND d.type_id = (SELECT id FROM device_types WHERE name = $4)";
      return rows(`${after} ${ofType} ${order}`, [owner, afterId, limit, typeName]);
    },
    async lock(userId, ids) {
      if (sql.dialect === "sqlite" && ids.length === 1) {
        return (await sql.all<DeviceRow>(lockOneOnSqlite, [ids[0]!, userId])).map(lockedDevice);
      }
      return lockedRows(`d.id ${among} AND d.user_id = $2`, [ids, userId]);
    },
    lockOfTenant: (tenantId, ids) => lockedRows(`d.id ${among} AND d.tenant_id = $2`, [ids, tenantId]),
    rename: (userId, id, { name, room }) =>
      sql.post("UPDATE devices SET name = $3, room = $4 WHERE user_id = $1 AND id = $2", [userId, id, name, room]),
    setDescribed: (userId, id, heardMs) =>
      sql.post("UPDATE devices SET described_ms = last_time_ms, heard_ms = $3 WHERE user_id = $1 AND id = $2", [
        userId,
        id,
        heardMs,
      ]),
    setSilent: (tenantId, ids) =>
      sql.post(`UPDATE devices SET silent_ms = last_time_ms WHERE id ${among} AND tenant_id = $2`, [ids, tenantId]),
    async remove(userId, id) {
      await sql.run("DELETE FROM devices WHERE user_id = $1 AND id = $2", [userId, id]);
    },
    removeOfUser: (userId) => removed("DELETE FROM devices WHERE user_id = $1 RETURNING id", [userId]),
    removeOwn: (userId, limit) =>
      removed(
        `DELETE FROM devices WHERE user_id = $1 AND id IN (
           SELECT id FROM devices WHERE user_id = $1 AND is_virtual = 0 LIMIT $2) RETURNING id`,
        [userId, limit],
      ),
    setLastTime: (userId, id, timeMs, growth) =>
      growth
        ? // An invalid counter stays invalid: counted_ms becomes null.
          sql.post(
            `UPDATE devices SET last_time_ms = $3, attribute_names = attribute_names + $4,
               attribute_bytes = attribute_bytes + $5, erased_ms = COALESCE(erased_ms, CAST($6 AS BIGINT)),
               counted_ms = CASE WHEN counted_ms = last_time_ms THEN CAST($3 AS BIGINT) END WHERE user_id = $1 AND id = $2`,
            [userId, id, timeMs, growth.names, growth.bytes, growth.isErasing ? timeMs : null],
          )
        : sql.post("UPDATE devices SET last_time_ms = $3 WHERE user_id = $1 AND id = $2", [userId, id, timeMs]),
    versions(devices) {
      const select = `SELECT d.id, d.last_time_ms AS "lastTimeMs" FROM devices d`;
      const ids = devices.map(({ id }) => id);
      if (sql.dialect === "sqlite") return sql.all(`${select} WHERE d.id ${among}`, [ids]);
      const pairs = "unnest($1::int[], $2::int[]) AS asked (user_id, id)";
      return sql.all(`${select} JOIN ${pairs} ON d.user_id = asked.user_id AND d.id = asked.id`, [
        devices.map(({ userId }) => userId),
        ids,
      ]);
    },
  };
}

/**
 * When the device wrote last; 0: never. If `describedMs` is the time of the last commit, a description or an alert made
 * that commit. An older version does not note them, so each of its commits counts as a write.
 */
export function lastHeardMs({
  lastTimeMs,
  describedMs,
  heardMs,
}: Pick<DeviceRow, "lastTimeMs" | "describedMs" | "heardMs">): number {
  return describedMs === lastTimeMs ? (heardMs ?? 0) : lastTimeMs;
}

/** The same as an SQL expression. */
export const lastHeardSql = "CASE WHEN described_ms = last_time_ms THEN heard_ms ELSE last_time_ms END";

/** The SQL condition of an access scope: a column and the value that it must equal. */
export function ownerIn(accessScope: AccessScope): readonly [column: string, owner: number] {
  return accessScope.kind === "user" ? ["d.user_id", accessScope.userId] : ["d.tenant_id", accessScope.tenantId];
}

/** The id of a device type; a new name gets a new id. `tenantId`: the tenant whose client named it. */
export async function typeIdOf(sql: Sql, name: string, tenantId: TenantId | null = null): Promise<number> {
  const insert = "INSERT INTO device_types (name, tenant_id) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
  await sql.run(insert, [name, tenantId]);
  const found = await sql.all<{ id: number }>("SELECT id FROM device_types WHERE name = $1", [name]);
  return found[0]!.id;
}

async function countOf(sql: Sql, text: string, parameters: readonly Parameter[]): Promise<number> {
  return Number((await first(sql.all<{ count: number }>(text, parameters)))?.count ?? 0);
}
