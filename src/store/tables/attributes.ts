import type { DeviceId, UserId } from "../../model/ids.ts";
import { insertRows } from "../inserted-rows.ts";
import type { Sql } from "../sql.ts";

/** Attributes of a virtual device are keyed by their number in the model, those of other devices by their name. */
export type AttributeKey = number | string;

export interface AttributeRow {
  readonly key: AttributeKey;
  /** Null means erased. The row stays, so that `since` can report the erasure. */
  readonly value: string | null;
  readonly timeMs: number;
}

/** The present state of devices. `devices/commit.ts` is the only writer, with `device-addition.ts` for first values. */
export interface AttributeTable {
  all(userId: UserId, deviceId: DeviceId): Promise<AttributeRow[]>;
  some(userId: UserId, deviceId: DeviceId, keys: readonly AttributeKey[]): Promise<AttributeRow[]>;
  /** Returns the number of removed rows, erased attributes included. */
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** With a limit: at most so many rows. */
  removeOfUser(userId: UserId, limit?: number): Promise<number>;
  /** Whether the user has more rows than `count`. */
  hasMoreOfUser(userId: UserId, count: number): Promise<boolean>;
  write(
    userId: UserId,
    deviceId: DeviceId,
    timeMs: number,
    changes: readonly { readonly key: AttributeKey; readonly value: string | null }[],
  ): Promise<void>;
  /** Writes the first values of devices that have none, with fewer statements. The names of a device are distinct. */
  writeFirst(devices: readonly FirstValues[]): Promise<void>;
}

/** The first values of a device with named attributes. */
export interface FirstValues {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly timeMs: number;
  readonly values: readonly { readonly key: AttributeKey; readonly value: string | null }[];
}

export interface StoredAttribute {
  readonly number: number;
  readonly name: string;
  readonly value: string | null;
  readonly timeMs: number;
}

/** The number of named attributes. Number and name are both in the primary key, so that one table serves both kinds. */
const unnumbered = -1;

/** The key as it is stored. */
export function storedKey(key: AttributeKey): readonly [number: number, name: string] {
  return typeof key === "number" ? [key, ""] : [unnumbered, key];
}

/** On a conflict of the primary key the later value replaces the earlier one. */
export const attributeUpsert = `ON CONFLICT (user_id, device_id, number, name)
  DO UPDATE SET value = excluded.value, time_ms = excluded.time_ms`;

const columns = `number, name, value, time_ms AS "timeMs"`;

/** On SQLite, up to this number of keys are looked up one by one, which is faster there than a join with a list of keys. */
const fewKeys = 4;

/** The texts of frequent statements are built once, because statements are found by their texts. */
const selectOne = `SELECT ${columns} FROM attributes WHERE user_id = $1 AND device_id = $2 AND number = $3 AND name = $4`;
const upsertOne = `INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
  VALUES ($1, $2, $3, $4, $5, $6) ${attributeUpsert}`;

export function attributeTable(sql: Sql): AttributeTable {
  const findOne = (userId: UserId, deviceId: DeviceId, key: AttributeKey) =>
    sql.all<StoredAttribute>(selectOne, [userId, deviceId, ...storedKey(key)]);
  return {
    async all(userId, deviceId) {
      const rows = await sql.all<StoredAttribute>(
        `SELECT ${columns} FROM attributes WHERE user_id = $1 AND device_id = $2 ORDER BY number, name`,
        [userId, deviceId],
      );
      return rows.map(fromStored);
    },
    async some(userId, deviceId, keys) {
      if (sql.dialect === "sqlite" && keys.length <= fewKeys) {
        const found = await Promise.all([...new Set(keys)].map((key) => findOne(userId, deviceId, key)));
        return found.flat().map(fromStored);
      }
      const numbers = keys.filter((key) => typeof key === "number");
      const names = keys.filter((key) => typeof key === "string");
      const rows = await sql.all<StoredAttribute>(
        sql.dialect === "postgres"
          ? `SELECT ${columns} FROM attributes WHERE user_id = $1 AND device_id = $2
             AND (number = ANY($3::int[]) OR (number = ${unnumbered} AND name = ANY($4::text[])))`
          : `SELECT ${columns} FROM attributes WHERE user_id = $1 AND device_id = $2
             AND number IN (SELECT value FROM json_each($3)) AND name = ''
             UNION ALL SELECT ${columns} FROM attributes WHERE user_id = $1 AND device_id = $2
             AND number = ${unnumbered} AND name IN (SELECT value FROM json_each($4))`,
        [userId, deviceId, numbers, names],
      );
      return rows.map(fromStored);
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM attributes WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    removeOfUser: (userId, limit) =>
      limit === undefined
        ? sql.run("DELETE FROM attributes WHERE user_id = $1", [userId])
        : sql.run(
            `DELETE FROM attributes WHERE user_id = $1 AND (device_id, number, name) IN (
               SELECT device_id, number, name FROM attributes WHERE user_id = $1 LIMIT $2)`,
            [userId, limit],
          ),
    hasMoreOfUser: async (userId, count) =>
      (await sql.all("SELECT 1 FROM attributes WHERE user_id = $1 LIMIT 1 OFFSET $2", [userId, count])).length > 0,
    async write(userId, deviceId, timeMs, allChanges) {
      // The last change of each attribute: PostgreSQL refuses to write a row twice in one statement.
      const changes = [...new Map(allChanges.map((change) => [change.key, change])).values()];
      if (changes.length === 0) return;
      const numbers = changes.map(({ key }) => storedKey(key)[0]);
      const names = changes.map(({ key }) => storedKey(key)[1]);
      const values = changes.map(({ value }) => value);
      if (sql.dialect === "postgres") {
        await sql.post(
          `INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
           SELECT $1, $2, number, name, value, $3
           FROM unnest($4::int[], $5::text[], $6::text[]) AS changed (number, name, value) ${attributeUpsert}`,
          [userId, deviceId, timeMs, numbers, names, values],
        );
      } else {
        await sql.runEach(
          upsertOne,
          changes.map((_, i) => [userId, deviceId, numbers[i]!, names[i]!, values[i]!, timeMs]),
        );
      }
    },
    async writeFirst(devices) {
      const rows = devices.flatMap(({ userId, deviceId, timeMs, values }) =>
        values.map(({ key, value }) => [userId, deviceId, unnumbered, String(key), value, timeMs] as const),
      );
      const insert = "INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)";
      if (sql.dialect === "sqlite") {
        await insertRows(sql, insert, rows);
      } else if (rows.length > 0) {
        await sql.post(
          `${insert} SELECT user_id, device_id, ${unnumbered}, name, value, time_ms
           FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::bigint[])
             AS first (user_id, device_id, name, value, time_ms)`,
          [
            rows.map(([userId]) => userId),
            rows.map(([, deviceId]) => deviceId),
            rows.map(([, , , name]) => name),
            rows.map(([, , , , value]) => value),
            rows.map(([, , , , , timeMs]) => timeMs),
          ],
        );
      }
    },
  };
}

export function fromStored({ number, name, value, timeMs }: StoredAttribute): AttributeRow {
  return { key: number === unnumbered ? name : number, value, timeMs };
}
