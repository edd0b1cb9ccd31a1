import type { DeviceId, UserId } from "../../model/ids.ts";
import type { GroupTables, GroupWrites } from "../groups/group-tables.ts";
import { transactionOn } from "../seam.ts";
import { attributeUpsert, fromStored, type StoredAttribute, storedKey } from "../tables/attributes.ts";
import { type DeviceRow, lockedColumns, lockedDevice } from "../tables/devices.ts";
import { entryTransaction } from "../tables/log.ts";
import { type ThingRow, thingColumns } from "../tables/things.ts";
import type { LentSql } from "./connection.ts";

/** The statements of a group on PostgreSQL: rows are given as arrays, one for each column. */
export function groupTables(sql: LentSql): GroupTables {
  const single = transactionOn(sql);
  return {
    single,
    async lockUsers(ids) {
      // Other than in users.lock the time is read in the same statement, because this one never waits for a lock.
      const found = await sql.all<{ id: UserId; nowMs: number }>(
        `SELECT id, ${sql.clock} AS "nowMs" FROM users WHERE id = ANY($1::int[]) ORDER BY id
         FOR NO KEY UPDATE SKIP LOCKED`,
        [ids],
      );
      return { ids: new Set(found.map(({ id }) => id)), nowMs: found.at(-1)?.nowMs ?? 0 };
    },
    async read({ links, devices, attributes, things }) {
      const [row] = await sql.all<LookedUp>(lookUp, [
        links.map(({ userId }) => userId),
        links.map(({ deviceId }) => deviceId),
        links.map(({ owner }) => owner),
        links.map(({ epoch }) => epoch),
        devices.map(({ userId }) => userId),
        devices.map(({ deviceId }) => deviceId),
        attributes.map(({ userId }) => userId),
        attributes.map(({ deviceId }) => deviceId),
        attributes.map(({ key }) => storedKey(key)[0]),
        attributes.map(({ key }) => storedKey(key)[1]),
        things.map(({ userId }) => userId),
        things.map(({ thingId }) => thingId),
      ]);
      return {
        links: new Set(row!.links),
        devices: row!.devices?.map(lockedDevice) ?? [],
        attributes: row!.attributes?.map((found) => ({ ...fromStored(found), deviceId: found.deviceId })) ?? [],
        things: row!.things ?? [],
      };
    },
    async write({ attributes, things, states, times, log }: GroupWrites) {
      // New and renamed things are rare.
      const puts = things.map((thing) => single.things.put(thing));
      const rest =
        attributes.length + states.length + times.length + log.length > 0
          ? sql.post(writeAll, [
              attributes.map(({ userId }) => userId),
              attributes.map(({ deviceId }) => deviceId),
              attributes.map(({ key }) => storedKey(key)[0]),
              attributes.map(({ key }) => storedKey(key)[1]),
              attributes.map(({ value }) => value),
              attributes.map(({ timeMs }) => timeMs),
              states.map(({ userId }) => userId),
              states.map(({ thingId }) => thingId),
              states.map(({ state }) => state),
              states.map(({ print }) => print),
              states.map(({ samples }) => samples),
              times.map(({ userId }) => userId),
              times.map(({ deviceId }) => deviceId),
              times.map(({ timeMs }) => timeMs),
              log.map(({ userId }) => userId),
              log.map(({ deviceId }) => deviceId),
              log.map(({ kind }) => kind),
              log.map(({ timeMs }) => timeMs),
              log.map(({ body }) => body),
            ])
          : undefined;
      if (log.length > 0) sql.hint("log");
      await Promise.all([...puts, rest]);
    },
  };
}

/** The rows of each kind as JSON; null: none. */
interface LookedUp {
  readonly links: readonly DeviceId[] | null;
  readonly devices: readonly DeviceRow[] | null;
  readonly attributes: readonly (StoredAttribute & { readonly deviceId: DeviceId })[] | null;
  readonly things: readonly ThingRow[] | null;
}

/** All that a group must know of its members, in one statement for the same reason as `writeAll`. */
const lookUp = `
  WITH held AS (
    SELECT l.device_id FROM unnest($1::int[], $2::int[], $3::text[], $4::int[])
      AS asked (user_id, device_id, owner, epoch)
    JOIN links l ON l.user_id = asked.user_id AND l.device_id = asked.device_id AND l.owner = asked.owner
      AND l.epoch = asked.epoch
    FOR SHARE OF l SKIP LOCKED
  ), locked AS (
    SELECT ${lockedColumns} FROM unnest($5::int[], $6::int[]) AS asked (user_id, id)
    JOIN devices d ON d.user_id = asked.user_id AND d.id = asked.id JOIN device_types t ON t.id = d.type_id
    FOR NO KEY UPDATE OF d SKIP LOCKED
  ), present AS (
    SELECT a.device_id AS "deviceId", a.number, a.name, a.value, a.time_ms AS "timeMs"
    FROM unnest($7::int[], $8::int[], $9::int[], $10::text[]) AS asked (user_id, device_id, number, name)
    JOIN attributes a ON a.user_id = asked.user_id AND a.device_id = asked.device_id AND a.number = asked.number
      AND a.name = asked.name
  ), reported AS (
    SELECT ${thingColumns} FROM unnest($11::int[], $12::text[]) AS asked (user_id, thing_id)
    JOIN things t ON t.user_id = asked.user_id AND t.thing_id = asked.thing_id
  )
  SELECT (SELECT json_agg(device_id) FROM held) AS links, (SELECT json_agg(locked) FROM locked) AS devices,
    (SELECT json_agg(present) FROM present) AS attributes, (SELECT json_agg(reported) FROM reported) AS things`;

/** Everything in one statement: each further one costs both sides more than its rows do. Ids of the log rise in its order. */
const writeAll = `
  WITH attributes_written AS (
    INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
    SELECT user_id, device_id, number, name, value, time_ms
    FROM unnest($1::int[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[])
      AS changed (user_id, device_id, number, name, value, time_ms) ${attributeUpsert}
  ), states_written AS (
    UPDATE things SET state = changed.state, print = changed.print, samples = changed.samples
    FROM unnest($7::int[], $8::text[], $9::text[], $10::bigint[], $11::text[])
      AS changed (user_id, thing_id, state, print, samples)
    WHERE things.user_id = changed.user_id AND things.thing_id = changed.thing_id
  ), times_written AS (
    UPDATE devices SET last_time_ms = changed.time_ms
    FROM unnest($12::int[], $13::int[], $14::bigint[]) AS changed (user_id, id, time_ms)
    WHERE devices.user_id = changed.user_id AND devices.id = changed.id
  )
  INSERT INTO log (user_id, device_id, kind, time_ms, body, xid)
  SELECT user_id, device_id, kind, time_ms, body, ${entryTransaction}
  FROM unnest($15::int[], $16::int[], $17::text[], $18::bigint[], $19::text[]) WITH ORDINALITY
    AS added (user_id, device_id, kind, time_ms, body, place) ORDER BY place`;
