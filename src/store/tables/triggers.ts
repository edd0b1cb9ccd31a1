import type { DeviceId, UserId } from "../../model/ids.ts";
import type { TriggerDefinition } from "../../model/trigger.ts";
import type { Sql } from "../sql.ts";
import type { AlertRow, AlertTable, NewAlert, TriggerTotals, WatchingAlert } from "./alert-rows.ts";
import { alertTable, readWatching, type StoredWatching, watchingColumns } from "./alert-table.ts";
import type { AttributeKey } from "./attributes.ts";

/** An alert on an attribute: its definition and its present state. */
export interface TriggerRow extends TriggerDefinition, AlertRow {
  readonly deviceId: DeviceId;
  /** The key of the attribute that `attributeName` names. */
  readonly key: AttributeKey;
}

export type NewTrigger = NewAlert<TriggerRow>;

export type WatchingTrigger = WatchingAlert & Pick<TriggerRow, "key">;

export interface TriggerTable extends AlertTable<TriggerRow> {
  /**
   * The enabled alerts on these attributes, ascending by id. One index look-up; targets, messages and records are not
   * read, since most changes make no alert fire.
   */
  watching(userId: UserId, deviceId: DeviceId, keys: readonly AttributeKey[]): Promise<WatchingTrigger[]>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<TriggerRow[]>;
  /** The next alerts of a user after that id, ascending; only those of the device, if there is one. */
  page(userId: UserId, deviceId: DeviceId | undefined, afterId: number, limit: number): Promise<TriggerRow[]>;
  setEnabledOfDevice(userId: UserId, deviceId: DeviceId, isEnabled: boolean): Promise<void>;
}

/** The attribute of a stored alert: its number, or its name. */
interface StoredKey {
  readonly number: number;
  readonly name: string;
}

type StoredAttribute = StoredKey & Pick<TriggerRow, "deviceId" | "attributeName">;

/** The number of named attributes, as in tables/attributes.ts. */
const unnumbered = -1;

/** The bytes of a definition. SQLite has an index on this expression, and uses it only when the text is the same. */
export const definitionBytes = `octet_length(attribute_name) + octet_length(condition) + octet_length(action) +
  octet_length(targets) + octet_length(address) + octet_length(message)`;
/** Counted apart: few alerts have commands, and an index finds them. */
const commandBytes = `SELECT COALESCE(SUM(octet_length(c.commands)), 0) FROM triggers c
  WHERE c.user_id = $1 AND c.commands IS NOT NULL`;
const ofDevice = "t.user_id = $1 AND t.device_id = $2";

export function triggerTable(sql: Sql): TriggerTable {
  const { shared, rows } = alertTable<TriggerRow, StoredAttribute>(sql, {
    table: "triggers",
    watched: { device_id: "deviceId", number: "number", name: "name", attribute_name: "attributeName" },
    valuesOf: ({ deviceId, key, attributeName }) => [
      deviceId,
      typeof key === "number" ? key : unnumbered,
      typeof key === "string" ? key : "",
      attributeName,
    ],
    readWatched: ({ deviceId, attributeName, ...key }) => ({ deviceId, attributeName, key: readKey(key) }),
  });
  return {
    ...shared,
    async watching(userId, deviceId, keys) {
      // A device has numbered attributes or named ones, never both.
      const isNumbered = typeof keys[0] === "number";
      const nameOrNumber = isNumbered ? "t.name = '' AND t.number" : `t.number = ${unnumbered} AND t.name`;
      const among =
        sql.dialect === "postgres"
          ? `= ANY($3::${isNumbered ? "int" : "text"}[])`
          : "IN (SELECT value FROM json_each($3))";
      const where = `WHERE ${ofDevice} AND t.is_enabled = 1 AND ${nameOrNumber} ${among}`;
      // Sorted here: with ORDER BY, the databases would scan all alerts of the device, which are in that order already.
      const found = await sql.all<StoredWatching & StoredKey>(
        `SELECT ${watchingColumns}, t.number, t.name FROM triggers t ${where}`,
        [userId, deviceId, keys],
      );
      return found.map((row) => ({ ...readWatching(row), key: readKey(row) })).sort((a, b) => a.id - b.id);
    },
    ofDevice: (userId, deviceId) => rows(`WHERE ${ofDevice} ORDER BY t.id`, [userId, deviceId]),
    page: (userId, deviceId, afterId, limit) =>
      deviceId === undefined
        ? rows("WHERE t.user_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3", [userId, afterId, limit])
        : rows(`WHERE ${ofDevice} AND t.id > $3 ORDER BY t.id LIMIT $4`, [userId, deviceId, afterId, limit]),
    async totals(userId, deviceId) {
      const counted = await sql.all<TriggerTotals>(
        `SELECT COUNT(*) AS "ofUser", COUNT(CASE WHEN device_id = $2 THEN 1 END) AS "ofDevice",
           CAST(COALESCE(SUM(${definitionBytes}), 0) + (${commandBytes}) AS BIGINT) AS "bytesOfUser"
         FROM triggers WHERE user_id = $1`,
        [userId, deviceId],
      );
      return counted[0]!;
    },
    async setEnabledOfDevice(userId, deviceId, isEnabled) {
      // Enabling arms.
      const change = isEnabled ? "is_enabled = 1, is_armed = 1, reason = NULL" : "is_enabled = 0, reason = NULL";
      // Only alerts that change are written: a database rewrites the whole row.
      const isOther = isEnabled ? "is_enabled = 0 OR is_armed = 0" : "is_enabled = 1";
      await sql.run(
        `UPDATE triggers SET ${change} WHERE user_id = $1 AND device_id = $2 AND (${isOther} OR reason IS NOT NULL)`,
        [userId, deviceId],
      );
    },
  };
}

function readKey({ number, name }: StoredKey): AttributeKey {
  return number === unnumbered ? name : number;
}
