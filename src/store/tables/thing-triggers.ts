import type { DeviceId, TriggerId, UserId } from "../../model/ids.ts";
import { bytesOf, type ThingTriggerDefinition } from "../../model/trigger.ts";
import type { Sql } from "../sql.ts";
import type { AlertRow, AlertTable, NewAlert, TriggerTotals, WatchingAlert } from "./alert-rows.ts";
import { alertTable, readWatching, type StoredWatching, watchingColumns } from "./alert-table.ts";

/** An alert on a field of a thing: its definition and its present state. */
export interface ThingTriggerRow extends ThingTriggerDefinition, AlertRow {
  readonly deviceId: DeviceId;
}

export type NewThingTrigger = NewAlert<ThingTriggerRow>;

type Watched = Pick<ThingTriggerRow, "deviceId" | "thingId" | "field">;

export type WatchingThingTrigger = WatchingAlert & Pick<Watched, "thingId" | "field">;

/** Which alerts a page has: all of the user, those on things of a device, or those on one thing. */
export interface ThingTriggerFilter {
  readonly deviceId?: DeviceId | undefined;
  readonly thingId?: string | undefined;
}

/**
 * The alerts on things. Their ids come from the same counter as those of the alerts on attributes, so that an id names
 * one alert. An alert is removed with its device, or with the row of its thing.
 */
export interface ThingTriggerTable extends AlertTable<ThingTriggerRow> {
  /** The enabled alerts on these fields of these things, ascending by id. Each field as `trait.field`. */
  watching(userId: UserId, thingIds: readonly string[], fields: readonly string[]): Promise<WatchingThingTrigger[]>;
  /** The next alerts of a user after that id, ascending. */
  page(userId: UserId, filter: ThingTriggerFilter, afterId: number, limit: number): Promise<ThingTriggerRow[]>;
}

export function thingTriggerTable(sql: Sql): ThingTriggerTable {
  const { shared, rows } = alertTable<ThingTriggerRow, Watched>(sql, {
    table: "thing_triggers",
    watched: { device_id: "deviceId", thing_id: "thingId", field: "field", bytes: "bytes" },
    valuesOf: (trigger) => [trigger.deviceId, trigger.thingId, trigger.field, bytesOf(trigger)],
    readWatched: ({ deviceId, thingId, field }) => ({ deviceId, thingId, field }),
    nextId: () => nextTriggerId(sql),
  });
  const among = (column: string, position: number) =>
    sql.dialect === "postgres"
      ? `${column} = ANY($${position}::text[])`
      : `${column} IN (SELECT value FROM json_each($${position}))`;
  return {
    ...shared,
    async watching(userId, thingIds, fields) {
      const found = await sql.all<StoredWatching & Watched>(
        `SELECT ${watchingColumns}, t.thing_id AS "thingId", t.field FROM thing_triggers t
         WHERE t.user_id = $1 AND ${among("t.thing_id", 2)} AND ${among("t.field", 3)} AND t.is_enabled = 1`,
        [userId, thingIds, fields],
      );
      return found
        .map((row) => ({ ...readWatching(row), thingId: row.thingId, field: row.field }))
        .sort((a, b) => a.id - b.id);
    },
    page(userId, { deviceId, thingId }, afterId, limit) {
      const filters = [
        ...(deviceId === undefined ? [] : [["device_id", deviceId] as const]),
        ...(thingId === undefined ? [] : [["thing_id", thingId] as const]),
      ];
      return rows(
        `WHERE t.user_id = $1 AND t.id > $2 ${filters.map(([column], i) => `AND t.${column} = $${i + 4}`).join(" ")}
         ORDER BY t.id LIMIT $3`,
        [userId, afterId, limit, ...filters.map(([, value]) => value)],
      );
    },
    async totals(userId, deviceId) {
      const counted = await sql.all<TriggerTotals>(
        `SELECT COUNT(*) AS "ofUser", COUNT(CASE WHEN device_id = $2 THEN 1 END) AS "ofDevice",
           CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS "bytesOfUser"
         FROM thing_triggers WHERE user_id = $1`,
        [userId, deviceId],
      );
      return counted[0]!;
    },
  };
}

/** Draws an id from the counter of the alerts on attributes. */
async function nextTriggerId(sql: Sql): Promise<TriggerId> {
  const drawn = await sql.all<{ id: TriggerId }>(
    sql.dialect === "postgres"
      ? "SELECT CAST(nextval(pg_get_serial_sequence('triggers', 'id')) AS INTEGER) AS id"
      : "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'triggers' RETURNING seq AS id",
  );
  if (drawn[0]) return drawn[0].id;
  // SQLite adds the counter of a table with its first row.
  await sql.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('triggers', 1)");
  return 1 as TriggerId;
}
