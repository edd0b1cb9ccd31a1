import type { CommandState } from "../../home/command-states.ts";
import type { DeviceId, NodeId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";

/** One fan request: first the intent to send it, then its outcome. */
export interface FanRequestRow {
  readonly id: number;
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  /** The number of the `requestWrite` that was written. */
  readonly attribute: number;
  readonly thermostatId: string;
  readonly value: string;
  readonly state: CommandState;
  /** Why it was refused, in the words of the ecosystem or of Breezeway. */
  readonly text: string | null;
  readonly requestedMs: number;
  readonly sentMs: number | null;
  readonly settledMs: number | null;
  /** Until then the ecosystem accepts no request for this thermostat. */
  readonly blockedUntilMs: number | null;
}

export type FanRequestChange = Partial<Pick<FanRequestRow, "text" | "sentMs" | "settledMs" | "blockedUntilMs">> & {
  readonly state: CommandState;
};

export interface FanRequestTable {
  add(command: Omit<FanRequestRow, "id" | "sentMs" | "blockedUntilMs">): Promise<number>;
  find(userId: UserId, deviceId: DeviceId, id: number): Promise<FanRequestRow | undefined>;
  /** The newest request to that `requestWrite`, without those that were refused before they were sent. */
  latest(userId: UserId, deviceId: DeviceId, attribute: number): Promise<FanRequestRow | undefined>;
  /** Accepted requests to the same `requestWrite` before this one that are not settled, oldest first. */
  acceptedBefore(command: FanRequestRow): Promise<FanRequestRow[]>;
  /** Changes the request if it is in one of the states `from`; returns whether it was. */
  change(command: FanRequestRow, from: readonly CommandState[], change: FanRequestChange): Promise<boolean>;
  /** Requests for a thermostat that are queued or being sent, oldest first. */
  running(userId: UserId, deviceId: DeviceId, thermostatId: string): Promise<FanRequestRow[]>;
  /** The newest first. */
  ofThermostat(userId: UserId, deviceId: DeviceId, thermostatId: string, limit: number): Promise<FanRequestRow[]>;
  /** The newest first. */
  ofDevice(userId: UserId, deviceId: DeviceId, limit: number): Promise<FanRequestRow[]>;
  /** Until when the ecosystem accepts no request for this thermostat, without blocks beyond `atMostMs`. */
  blockedUntil(userId: UserId, deviceId: DeviceId, thermostatId: string, atMostMs?: number): Promise<number | null>;
  /** Queued requests of links that this node owns, oldest first. */
  queuedFor(owner: NodeId, limit: number): Promise<FanRequestRow[]>;
  /**
   * Requests of all nodes that should have been settled by now, by the time of their request or of their sending; and
   * those without an answer that were requested after `requestedAfterMs`: the clock was set back since.
   */
  overdue(
    queuedBeforeMs: number,
    sendingBeforeMs: number,
    sentBeforeMs: number,
    limit: number,
    requestedAfterMs?: number,
  ): Promise<FanRequestRow[]>;
  /** Keeps the newest `keep` requests, and older ones that are not settled or still block the thermostat. */
  trim(userId: UserId, deviceId: DeviceId, keep: number, nowMs: number): Promise<void>;
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** With a limit: at most so many requests. */
  removeOfUser(userId: UserId, limit?: number): Promise<number>;
  hasMoreOfUser(userId: UserId, count: number): Promise<boolean>;
}

const columns = `c.id, c.user_id AS "userId", c.device_id AS "deviceId", c.attribute, c.thermostat_id AS "thermostatId",
  c.value, c.state, c.text, c.requested_ms AS "requestedMs", c.sent_ms AS "sentMs", c.settled_ms AS "settledMs",
  c.blocked_until_ms AS "blockedUntilMs"`;
const ofDevice = "c.user_id = $1 AND c.device_id = $2";
/**
 * The condition of the index of unsettled requests. Without it, SQLite reads all requests that are kept: it does not see that a
 * narrower condition implies this one.
 */
const unsettled = "c.state IN ('queued', 'sending', 'accepted')";

export function fanRequestTable(sql: Sql): FanRequestTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<FanRequestRow>(`SELECT ${columns} FROM commands c ${tail}`, parameters);
  return {
    async add({ userId, deviceId, attribute, thermostatId, value, state, text, requestedMs, settledMs }) {
      const added = await sql.all<{ id: number }>(
        `INSERT INTO commands
           (user_id, device_id, attribute, thermostat_id, value, state, text, requested_ms, settled_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
        [userId, deviceId, attribute, thermostatId, value, state, text, requestedMs, settledMs],
      );
      if (state === "queued") sql.hint("commands");
      return added[0]!.id;
    },
    find: (userId, deviceId, id) => first(rows(`WHERE ${ofDevice} AND c.id = $3`, [userId, deviceId, id])),
    latest: (userId, deviceId, attribute) =>
      first(
        rows(
          `WHERE ${ofDevice} AND c.attribute = $3 AND NOT (c.state = 'rejected' AND c.sent_ms IS NULL)
           ORDER BY c.id DESC LIMIT 1`,
          [userId, deviceId, attribute],
        ),
      ),
    acceptedBefore: ({ userId, deviceId, attribute, id }) =>
      rows(
        `WHERE ${ofDevice} AND c.attribute = $3 AND c.id < $4 AND c.state = 'accepted' AND c.settled_ms IS NULL
         ORDER BY c.id`,
        [userId, deviceId, attribute, id],
      ),
    async change(command, from, { state, ...change }) {
      const { text, sentMs, settledMs, blockedUntilMs } = { ...command, ...change };
      const states = from.map((state) => `'${state}'`).join(", ");
      const touched = await sql.run(
        `UPDATE commands SET state = $4, text = $5, sent_ms = $6, settled_ms = $7, blocked_until_ms = $8
         WHERE user_id = $1 AND device_id = $2 AND id = $3 AND state IN (${states})`,
        [command.userId, command.deviceId, command.id, state, text, sentMs, settledMs, blockedUntilMs],
      );
      return touched > 0;
    },
    running: (userId, deviceId, thermostatId) =>
      rows(`WHERE ${ofDevice} AND c.thermostat_id = $3 AND c.state IN ('queued', 'sending') ORDER BY c.id`, [
        userId,
        deviceId,
        thermostatId,
      ]),
    ofThermostat: (userId, deviceId, thermostatId, limit) =>
      rows(`WHERE ${ofDevice} AND c.thermostat_id = $3 ORDER BY c.id DESC LIMIT $4`, [
        userId,
        deviceId,
        thermostatId,
        limit,
      ]),
    ofDevice: (userId, deviceId, limit) =>
      rows(`WHERE ${ofDevice} ORDER BY c.id DESC LIMIT $3`, [userId, deviceId, limit]),
    async blockedUntil(userId, deviceId, thermostatId, atMostMs = Number.MAX_SAFE_INTEGER) {
      const row = await first(
        sql.all<{ untilMs: number | null }>(
          `SELECT MAX(c.blocked_until_ms) AS "untilMs" FROM commands c
           WHERE ${ofDevice} AND c.thermostat_id = $3 AND c.blocked_until_ms <= $4`,
          [userId, deviceId, thermostatId, atMostMs],
        ),
      );
      return row?.untilMs ?? null;
    },
    queuedFor: (owner, limit) =>
      rows(
        // A CROSS JOIN: SQLite begins with the requests, not with all links of the node.
        `CROSS JOIN links l WHERE l.user_id = c.user_id AND l.device_id = c.device_id
           AND ${unsettled} AND c.state = 'queued' AND l.owner = $1 ORDER BY c.id LIMIT $2`,
        [owner, limit],
      ),
    overdue: (queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs = Number.MAX_SAFE_INTEGER) =>
      rows(
        `WHERE ${unsettled} AND (
           (c.state = 'queued' AND c.requested_ms <= $1) OR (c.state = 'sending' AND c.requested_ms <= $2)
           OR (c.state = 'accepted' AND c.settled_ms IS NULL AND c.sent_ms <= $3)
           OR (c.state IN ('queued', 'sending') AND c.requested_ms > $5)) ORDER BY c.id LIMIT $4`,
        [queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs],
      ),
    async trim(userId, deviceId, keep, nowMs) {
      await sql.run(
        `DELETE FROM commands WHERE user_id = $1 AND device_id = $2
           AND state NOT IN ('queued', 'sending') AND NOT (state = 'accepted' AND settled_ms IS NULL) AND (blocked_until_ms IS NULL OR blocked_until_ms <= $4) AND id <=
           (SELECT c.id FROM commands c WHERE ${ofDevice} ORDER BY c.id DESC LIMIT 1 OFFSET $3)`,
        [userId, deviceId, keep, nowMs],
      );
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM commands WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    removeOfUser: (userId, limit) =>
      limit === undefined
        ? sql.run("DELETE FROM commands WHERE user_id = $1", [userId])
        : sql.run(
            `DELETE FROM commands WHERE user_id = $1 AND (device_id, id) IN (
               SELECT device_id, id FROM commands WHERE user_id = $1 LIMIT $2)`,
            [userId, limit],
          ),
    hasMoreOfUser: async (userId, count) =>
      (await sql.all("SELECT 1 FROM commands WHERE user_id = $1 LIMIT 1 OFFSET $2", [userId, count])).length > 0,
  };
}
