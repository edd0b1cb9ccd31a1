import type { DeviceId, UserId } from "../../model/ids.ts";
import { justLinked } from "../../model/just-linked.ts";
import type { Parameter, Sql } from "../sql.ts";

/** A time in which Breezeway could not have seen an event of the account, and the reason. */
export interface BlindInterval {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cause: string;
}

export interface BlindIntervalTable {
  /** Keeps the newest `blindIntervalsKept` intervals of a device. */
  add(userId: UserId, deviceId: DeviceId, interval: BlindInterval): Promise<void>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<BlindInterval[]>;
  /** For each of these devices that was blind after `sinceMs`: for how long, without an interval that has not ended. */
  sums(
    devices: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
    sinceMs: number,
  ): Promise<{ readonly deviceId: DeviceId; readonly blindMs: number }[]>;
  /** The same in each hour from `sinceMs` on, counted from 0. Hours in which a device was not blind are left out. */
  hours(
    devices: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
    sinceMs: number,
    hours: number,
  ): Promise<readonly { readonly deviceId: DeviceId; readonly hour: number; readonly blindMs: number }[]>;
  /** For each of these devices that has intervals: when it was linked, if that is kept, and how far back they go. */
  pasts(devices: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[]): Promise<
    readonly {
      readonly deviceId: DeviceId;
      readonly linkedMs: number | null;
      readonly oldestMs: number;
      readonly kept: number;
    }[]
  >;
  removeEndedBefore(userId: UserId, deviceId: DeviceId, timeMs: number): Promise<number>;
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  removeOfUser(userId: UserId): Promise<number>;
}

/** A link whose stream breaks every few seconds must not fill the store, nor the answer about its status. */
export const blindIntervalsKept = 1_000;
const hourMs = 3_600_000;

export function blindIntervalTable(sql: Sql): BlindIntervalTable {
  return {
    async add(userId, deviceId, { fromMs, toMs, cause }) {
      await sql.run(
        `INSERT INTO blind_intervals (user_id, device_id, from_ms, to_ms, cause) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (user_id, device_id, from_ms) DO UPDATE SET to_ms = excluded.to_ms, cause = excluded.cause`,
        [userId, deviceId, fromMs, toMs, cause],
      );
      await sql.post(
        `DELETE FROM blind_intervals WHERE user_id = $1 AND device_id = $2 AND from_ms <=
           (SELECT b.from_ms FROM blind_intervals b WHERE b.user_id = $1 AND b.device_id = $2
            ORDER BY b.from_ms DESC LIMIT 1 OFFSET ${blindIntervalsKept})`,
        [userId, deviceId],
      );
    },
    ofDevice: (userId, deviceId) =>
      sql.all<BlindInterval>(
        `SELECT from_ms AS "fromMs", to_ms AS "toMs", cause FROM blind_intervals
         WHERE user_id = $1 AND device_id = $2 ORDER BY from_ms`,
        [userId, deviceId],
      ),
    async sums(devices, sinceMs) {
      if (devices.length === 0) return [];
      const parameters: Parameter[] = [sinceMs];
      const among = amongDevices(devices, parameters);
      return sql.all(
        `SELECT device_id AS "deviceId",
           SUM(to_ms - CASE WHEN from_ms < $1 THEN $1 ELSE from_ms END) AS "blindMs" FROM blind_intervals
         WHERE (${among}) AND to_ms > $1 GROUP BY device_id`,
        parameters,
      );
    },
    async hours(devices, sinceMs, hours) {
      if (devices.length === 0) return [];
      const parameters: Parameter[] = [sinceMs];
      const among = amongDevices(devices, parameters);
      const ended = await sql.all<{ deviceId: DeviceId; fromMs: number; toMs: number }>(
        `SELECT device_id AS "deviceId", from_ms AS "fromMs", to_ms AS "toMs" FROM blind_intervals
         WHERE (${among}) AND to_ms > $1`,
        parameters,
      );
      // Not in SQL: a join with the hours takes four times as long.
      const sums = new Map<DeviceId, number[]>();
      for (const { deviceId, fromMs, toMs } of ended) {
        const ofDevice = sums.get(deviceId) ?? new Array<number>(hours).fill(0);
        sums.set(deviceId, ofDevice);
        const first = Math.max(0, Math.floor((fromMs - sinceMs) / hourMs));
        for (let hour = first; hour < hours && sinceMs + hour * hourMs < toMs; hour++) {
          const beginMs = sinceMs + hour * hourMs;
          ofDevice[hour]! += Math.min(toMs, beginMs + hourMs) - Math.max(fromMs, beginMs);
        }
      }
      return [...sums].flatMap(([deviceId, ofDevice]) =>
        ofDevice.flatMap((blindMs, hour) => (blindMs > 0 ? [{ deviceId, hour, blindMs }] : [])),
      );
    },
    async pasts(devices) {
      if (devices.length === 0) return [];
      const parameters: Parameter[] = [];
      const among = amongDevices(devices, parameters);
      const rows = await sql.all<{ deviceId: DeviceId; linkedMs: number | null; oldestMs: number; kept: number }>(
        `SELECT device_id AS "deviceId", MAX(CASE WHEN cause = '${justLinked}' THEN from_ms END) AS "linkedMs",
           MIN(from_ms) AS "oldestMs", COUNT(*) AS kept FROM blind_intervals WHERE ${among} GROUP BY device_id`,
        parameters,
      );
      return rows.map((row) => ({ ...row, kept: Number(row.kept) }));
    },
    removeEndedBefore: (userId, deviceId, timeMs) =>
      sql.run("DELETE FROM blind_intervals WHERE user_id = $1 AND device_id = $2 AND to_ms < $3", [
        userId,
        deviceId,
        timeMs,
      ]),
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM blind_intervals WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    removeOfUser: (userId) => sql.run("DELETE FROM blind_intervals WHERE user_id = $1", [userId]),
  };
}

function amongDevices(
  devices: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
  parameters: Parameter[],
): string {
  const owned = devices.map(
    ({ userId, deviceId }) => `(user_id = $${parameters.push(userId)} AND device_id = $${parameters.push(deviceId)})`,
  );
  return owned.join(" OR ");
}
