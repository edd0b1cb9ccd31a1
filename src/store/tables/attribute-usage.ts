import type { DeviceId, UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

/** The size of the attributes of a device that is not virtual. */
export interface AttributeUsage {
  /** Includes erased attributes: their rows stay for a while, so that `since` can report the erasure. */
  readonly names: number;
  /** Bytes of names and values in UTF-8. */
  readonly bytes: number;
}

export interface CountedUsage extends AttributeUsage {
  /** False when the device has more names than were counted. Such devices are older than the limit. */
  readonly isWhole: boolean;
}

/**
 * Counters of attributes, stored in the rows of devices, so that a check need not count rows. A counter is valid only when
 * `counted_ms` equals `last_time_ms`: a node of an older version writes attributes without updating the counter, and
 * every commit changes `last_time_ms`. An invalid counter is recounted before use. The caller holds the user's lock.
 */
export interface AttributeUsageTable {
  /** The usage of the device; undefined when its counter is invalid. */
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<AttributeUsage | undefined>;
  /** The bytes of all devices of the user with valid counters. Other devices are not included. */
  bytesOfUser(userId: UserId): Promise<number>;
  /** Counts the rows of the device, and stores the result unless there are too many rows to count. */
  count(userId: UserId, deviceId: DeviceId): Promise<CountedUsage>;
  /** Devices with a name that was erased before `beforeMs`, oldest erasure first. */
  withErasedNames(beforeMs: number, limit: number): Promise<{ readonly userId: UserId; readonly deviceId: DeviceId }[]>;
  /**
   * Removes names that were erased before `beforeMs`, among the next `limit` names after `afterName`. `last` is undefined
   * on the last page.
   */
  removeErased(userId: UserId, deviceId: DeviceId, page: ErasedNamesPage): Promise<RemovedNames>;
  /** Stores the time of the device's oldest erased name; null when no name is erased. */
  setErased(userId: UserId, deviceId: DeviceId, erasedMs: number | null): Promise<void>;
}

export interface ErasedNamesPage {
  readonly beforeMs: number;
  readonly afterName: string;
  readonly limit: number;
}

export interface RemovedNames {
  readonly removed: number;
  /** The time of the oldest erasure in this page that was not removed. */
  readonly oldestMs: number | null;
  /** The last name of this page, when more may follow. */
  readonly last: string | undefined;
}

/** Named attributes have this number (tables/attributes.ts). */
const unnumbered = -1;
const ofDevice = `user_id = $1 AND device_id = $2 AND number = ${unnumbered}`;
/** Counting takes a few milliseconds; on SQLite all writers wait for it. */
const mostRowsCounted = 10_000;
const bytes = "octet_length(name) + COALESCE(octet_length(value), 0)";

export function attributeUsageTable(sql: Sql): AttributeUsageTable {
  return {
    ofDevice: (userId, deviceId) =>
      first(
        sql.all<AttributeUsage>(
          `SELECT attribute_names AS names, attribute_bytes AS bytes FROM devices
           WHERE user_id = $1 AND id = $2 AND counted_ms = last_time_ms`,
          [userId, deviceId],
        ),
      ),
    async bytesOfUser(userId) {
      const row = await first(
        sql.all<{ bytes: number }>(
          `SELECT CAST(COALESCE(SUM(attribute_bytes), 0) AS BIGINT) AS bytes FROM devices
           WHERE user_id = $1 AND counted_ms = last_time_ms`,
          [userId],
        ),
      );
      return row!.bytes;
    },
    async count(userId, deviceId) {
      const row = await first(
        sql.all<AttributeUsage & { erasedMs: number | null }>(
          `SELECT COUNT(*) AS names, CAST(COALESCE(SUM(${bytes}), 0) AS BIGINT) AS bytes,
             MIN(CASE WHEN value IS NULL THEN time_ms END) AS "erasedMs"
           FROM (SELECT name, value, time_ms FROM attributes WHERE ${ofDevice} LIMIT $3) AS counted`,
          [userId, deviceId, mostRowsCounted],
        ),
      );
      const { erasedMs, ...usage } = row!;
      if (usage.names === mostRowsCounted) return { ...usage, isWhole: false };
      await sql.post(
        `UPDATE devices SET attribute_names = $3, attribute_bytes = $4, erased_ms = $5, counted_ms = last_time_ms
         WHERE user_id = $1 AND id = $2`,
        [userId, deviceId, usage.names, usage.bytes, erasedMs],
      );
      return { ...usage, isWhole: true };
    },
    withErasedNames: (beforeMs, limit) =>
      sql.all(
        `SELECT user_id AS "userId", id AS "deviceId" FROM devices WHERE erased_ms < $1 ORDER BY erased_ms LIMIT $2`,
        [beforeMs, limit],
      ),
    async removeErased(userId, deviceId, { beforeMs, afterName, limit }) {
      const rows = await sql.all<{ name: string; isErased: number | boolean; timeMs: number; bytes: number }>(
        `SELECT name, value IS NULL AS "isErased", time_ms AS "timeMs", ${bytes} AS bytes FROM attributes
         WHERE ${ofDevice} AND name > $3 ORDER BY name LIMIT $4`,
        [userId, deviceId, afterName, limit],
      );
      const erased = rows.filter(({ isErased }) => Boolean(isErased));
      const expired = erased.filter(({ timeMs }) => timeMs < beforeMs);
      const staying = erased.filter(({ timeMs }) => timeMs >= beforeMs).map(({ timeMs }) => timeMs);
      if (expired.length > 0) {
        const among = sql.dialect === "postgres" ? "= ANY($3::text[])" : "IN (SELECT value FROM json_each($3))";
        await sql.run(`DELETE FROM attributes WHERE ${ofDevice} AND name ${among}`, [
          userId,
          deviceId,
          expired.map(({ name }) => name),
        ]);
        await sql.run(
          `UPDATE devices SET attribute_names = attribute_names - $3, attribute_bytes = attribute_bytes - $4
           WHERE user_id = $1 AND id = $2`,
          [userId, deviceId, expired.length, expired.reduce((sum, row) => sum + row.bytes, 0)],
        );
      }
      return {
        removed: expired.length,
        oldestMs: staying.length > 0 ? Math.min(...staying) : null,
        last: rows.length === limit ? rows.at(-1)!.name : undefined,
      };
    },
    async setErased(userId, deviceId, erasedMs) {
      await sql.run("UPDATE devices SET erased_ms = $3 WHERE user_id = $1 AND id = $2", [userId, deviceId, erasedMs]);
    },
  };
}
