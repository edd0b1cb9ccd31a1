import type { CommandState } from "../../home/command-states.ts";
import type { DeviceId, NodeId, TriggerId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";

/** One command to a thing: first the intent to send it, then its outcome. Command, plan and error are JSON. */
export interface ThingCommandRow {
  readonly id: number;
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly thingId: string;
  /** The key of the thing within its account. */
  readonly key: string;
  readonly command: string;
  /** Null for a command that was refused before it was planned. */
  readonly plan: string | null;
  readonly state: CommandState;
  /** How many steps of the plan were sent. */
  readonly step: number;
  readonly error: string | null;
  /** The client that sent it. */
  readonly clientId: string | null;
  /** The alert that sent it. */
  readonly alertId: TriggerId | null;
  readonly requestedMs: number;
  /** When its last step was sent. */
  readonly sentMs: number | null;
  readonly settledMs: number | null;
  /** Until then the ecosystem accepts no command for this thing. */
  readonly blockedUntilMs: number | null;
  /** When a command to an own thing is settled at the latest; null for a command to a thing of a linked account. */
  readonly dueMs: number | null;
}

export type NewThingCommand = Omit<ThingCommandRow, "id" | "step" | "sentMs" | "blockedUntilMs" | "alertId" | "dueMs"> &
  Partial<Pick<ThingCommandRow, "step" | "sentMs" | "alertId" | "dueMs">>;

export type ThingCommandChange = Partial<
  Pick<ThingCommandRow, "plan" | "step" | "error" | "sentMs" | "settledMs" | "blockedUntilMs">
> & { readonly state: CommandState };

export interface ThingCommandTable {
  add(command: NewThingCommand): Promise<number>;
  /** Adds commands with few statements; returns their ids in the same order. */
  addMany(commands: readonly NewThingCommand[]): Promise<readonly number[]>;
  find(userId: UserId, deviceId: DeviceId, id: number): Promise<ThingCommandRow | undefined>;
  /** Changes the command if it is in one of the states `from`; returns whether it was. */
  change(command: ThingCommandRow, from: readonly CommandState[], change: ThingCommandChange): Promise<boolean>;
  /** The commands of a thing that have not ended, oldest first. */
  open(userId: UserId, deviceId: DeviceId, thingId: string): Promise<ThingCommandRow[]>;
  /** The same for all things of these devices. */
  openOf(userId: UserId, deviceIds: readonly DeviceId[]): Promise<ThingCommandRow[]>;
  /** Commands of a device whose outcome the ecosystem may still show, oldest first. */
  awaitingEcho(userId: UserId, deviceId: DeviceId, sentAfterMs: number): Promise<ThingCommandRow[]>;
  /** The newest first. */
  ofThing(userId: UserId, deviceId: DeviceId, thingId: string, limit: number): Promise<ThingCommandRow[]>;
  /** The commands to the thing with this key that are queued or being sent, oldest first. */
  running(userId: UserId, deviceId: DeviceId, key: string): Promise<ThingCommandRow[]>;
  /** Until when the ecosystem accepts no command for the thing with this key, without blocks beyond `atMostMs`. */
  blockedUntil(userId: UserId, deviceId: DeviceId, key: string, atMostMs?: number): Promise<number | null>;
  /** The first queued command of each thing of the links that this node owns, oldest first. */
  queuedFor(owner: NodeId, limit: number): Promise<ThingCommandRow[]>;
  /** Commands to own things that are due, oldest first; those behind `after`, if there is one. */
  due(nowMs: number, limit: number, after?: Pick<ThingCommandRow, "dueMs" | "id">): Promise<ThingCommandRow[]>;
  /** Open commands to own things that were requested after `nowMs`: the clock was set back since. Oldest first. */
  ownAhead(nowMs: number, limit: number, afterId: number): Promise<ThingCommandRow[]>;
  /**
   * Commands to things of linked accounts, of all nodes, that should have been settled by now, by the time of their
   * request or of their sending; and those without an answer that were requested after `requestedAfterMs`: the clock was
   * set back since.
   */
  overdue(
    queuedBeforeMs: number,
    sendingBeforeMs: number,
    sentBeforeMs: number,
    limit: number,
    requestedAfterMs?: number,
  ): Promise<ThingCommandRow[]>;
  /** Keeps the newest `keep` commands, and older ones that have not ended or still block their thing. */
  trim(userId: UserId, deviceId: DeviceId, keep: number, nowMs: number): Promise<void>;
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** With a limit: at most so many commands. */
  removeOfUser(userId: UserId, limit?: number): Promise<number>;
  hasMoreOfUser(userId: UserId, count: number): Promise<boolean>;
}

const columns = `c.id, c.user_id AS "userId", c.device_id AS "deviceId", c.thing_id AS "thingId",
  c.external_key AS "key", c.command, c.plan, c.state, c.step, c.error, c.client_id AS "clientId",
  c.alert_id AS "alertId", c.due_ms AS "dueMs",  c.requested_ms AS "requestedMs", c.sent_ms AS "sentMs", c.settled_ms AS "settledMs",
  c.blocked_until_ms AS "blockedUntilMs"`;
const ofDevice = "c.user_id = $1 AND c.device_id = $2";
/**
 * The condition of the index of unsettled commands. Without it, SQLite reads all commands that are kept: it does not see that a
 * narrower condition implies this one.
 */
const unsettled = "c.state IN ('queued', 'sending', 'accepted')";
/** An accepted command has ended when it was settled without evidence. */
const isOpen = "(c.state IN ('queued', 'sending') OR (c.state = 'accepted' AND c.settled_ms IS NULL))";

export function thingCommandTable(sql: Sql): ThingCommandTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<ThingCommandRow>(`SELECT ${columns} FROM thing_commands c ${tail}`, parameters);
  return {
    add: async (row) => (await addRows(sql, [row]))[0]!,
    async addMany(commands) {
      const ids: number[] = [];
      const most = rowsPerStatement[sql.dialect];
      for (let from = 0; from < commands.length; from += most) {
        ids.push(...(await addRows(sql, commands.slice(from, from + most))));
      }
      return ids;
    },
    find: (userId, deviceId, id) => first(rows(`WHERE ${ofDevice} AND c.id = $3`, [userId, deviceId, id])),
    async change(command, from, { state, ...change }) {
      const { plan, step, error, sentMs, settledMs, blockedUntilMs } = { ...command, ...change };
      const states = from.map((name) => `'${name}'`).join(", ");
      const touched = await sql.run(
        `UPDATE thing_commands SET state = $4, plan = $5, step = $6, error = $7, sent_ms = $8, settled_ms = $9,
           blocked_until_ms = $10
         WHERE user_id = $1 AND device_id = $2 AND id = $3 AND state IN (${states})`,
        [command.userId, command.deviceId, command.id, state, plan, step, error, sentMs, settledMs, blockedUntilMs],
      );
      return touched > 0;
    },
    open: (userId, deviceId, thingId) =>
      rows(`WHERE ${ofDevice} AND c.thing_id = $3 AND ${isOpen} ORDER BY c.id`, [userId, deviceId, thingId]),
    openOf: (userId, deviceIds) =>
      rows(
        `WHERE c.user_id = $1 AND c.device_id ${
          sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))"
        } AND ${isOpen} ORDER BY c.id`,
        [userId, deviceIds],
      ),
    awaitingEcho: (userId, deviceId, sentAfterMs) =>
      rows(
        `WHERE ${ofDevice} AND c.sent_ms > $3 AND c.state IN ('sending', 'accepted', 'expired') AND
           (c.settled_ms IS NULL OR c.state = 'expired') ORDER BY c.id`,
        [userId, deviceId, sentAfterMs],
      ),
    ofThing: (userId, deviceId, thingId, limit) =>
      rows(`WHERE ${ofDevice} AND c.thing_id = $3 ORDER BY c.id DESC LIMIT $4`, [userId, deviceId, thingId, limit]),
    running: (userId, deviceId, key) =>
      rows(`WHERE ${ofDevice} AND c.external_key = $3 AND c.state IN ('queued', 'sending') ORDER BY c.id`, [
        userId,
        deviceId,
        key,
      ]),
    async blockedUntil(userId, deviceId, key, atMostMs = Number.MAX_SAFE_INTEGER) {
      const row = await first(
        sql.all<{ untilMs: number | null }>(
          `SELECT MAX(c.blocked_until_ms) AS "untilMs" FROM thing_commands c
           WHERE ${ofDevice} AND c.external_key = $3 AND c.blocked_until_ms <= $4`,
          [userId, deviceId, key, atMostMs],
        ),
      );
      return row?.untilMs ?? null;
    },
    queuedFor: (owner, limit) =>
      rows(
        // A CROSS JOIN: SQLite begins with the commands, not with all links of the node.
        `CROSS JOIN links l WHERE l.user_id = c.user_id AND l.device_id = c.device_id
         AND ${unsettled} AND c.state = 'queued' AND l.owner = $1 AND NOT EXISTS (
           SELECT 1 FROM thing_commands e WHERE e.user_id = c.user_id AND e.device_id = c.device_id
             AND e.thing_id = c.thing_id AND e.id < c.id AND e.state IN ('queued', 'sending'))
         ORDER BY c.id LIMIT $2`,
        [owner, limit],
      ),
    overdue: (queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs = Number.MAX_SAFE_INTEGER) =>
      rows(
        `WHERE ${unsettled} AND (
           (c.state = 'queued' AND c.requested_ms <= $1) OR (c.state = 'sending' AND c.requested_ms <= $2)
           OR (c.state = 'accepted' AND c.settled_ms IS NULL AND c.sent_ms <= $3)
           OR (c.state IN ('queued', 'sending') AND c.requested_ms > $5)) AND c.due_ms IS NULL
         ORDER BY c.id LIMIT $4`,
        [queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs],
      ),
    due: (nowMs, limit, after) =>
      rows(
        `WHERE c.state = 'sending' AND c.due_ms <= $1 AND (c.due_ms, c.id) > ($3, $4)
         ORDER BY c.due_ms, c.id LIMIT $2`,
        [nowMs, limit, after?.dueMs ?? 0, after?.id ?? 0],
      ),
    ownAhead: (nowMs, limit, afterId) =>
      rows(
        // The signs keep SQLite from reading all commands in the order of their ids.
        `WHERE c.state = 'sending' AND c.due_ms IS NOT NULL AND c.requested_ms > $1 AND +c.id > $3
         ORDER BY +c.id LIMIT $2`,
        [nowMs, limit, afterId],
      ),
    async trim(userId, deviceId, keep, nowMs) {
      await sql.run(
        `DELETE FROM thing_commands WHERE user_id = $1 AND device_id = $2
           AND state NOT IN ('queued', 'sending') AND NOT (state = 'accepted' AND settled_ms IS NULL)
           AND (blocked_until_ms IS NULL OR blocked_until_ms <= $4) AND id <=
           (SELECT c.id FROM thing_commands c WHERE ${ofDevice} ORDER BY c.id DESC LIMIT 1 OFFSET $3)`,
        [userId, deviceId, keep, nowMs],
      );
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM thing_commands WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    removeOfUser: (userId, limit) =>
      limit === undefined
        ? sql.run("DELETE FROM thing_commands WHERE user_id = $1", [userId])
        : sql.run(
            `DELETE FROM thing_commands WHERE user_id = $1 AND (device_id, id) IN (
               SELECT device_id, id FROM thing_commands WHERE user_id = $1 LIMIT $2)`,
            [userId, limit],
          ),
    hasMoreOfUser: async (userId, count) =>
      (await sql.all("SELECT 1 FROM thing_commands WHERE user_id = $1 LIMIT 1 OFFSET $2", [userId, count])).length > 0,
  };
}

/** On PostgreSQL a statement costs a round trip; SQLite is fastest with one short prepared statement. */
const rowsPerStatement = { postgres: 100, sqlite: 1 };

/** Ids rise in the order of insertion. */
async function addRows(sql: Sql, commands: readonly NewThingCommand[]): Promise<readonly number[]> {
  const values = commands.flatMap((row): readonly Parameter[] => {
    const { userId, deviceId, thingId, key, command, plan, state, error, clientId, alertId = null } = row;
    const { requestedMs, settledMs, step = 0, sentMs = null, dueMs = null } = row;
    return [
      ...[userId, deviceId, thingId, key, command, plan, state, step, error, clientId, requestedMs, settledMs],
      ...[alertId, sentMs, dueMs],
    ];
  });
  const columns = values.length / commands.length;
  const places = commands.map((_, row) => {
    const numbers = Array.from({ length: columns }, (_, column) => `$${row * columns + column + 1}`);
    return `(${numbers.join(", ")})`;
  });
  const added = await sql.all<{ id: number }>(
    `INSERT INTO thing_commands (user_id, device_id, thing_id, external_key, command, plan, state, step, error,
       client_id, requested_ms, settled_ms, alert_id, sent_ms, due_ms) VALUES ${places.join(", ")} RETURNING id`,
    values,
  );
  if (commands.some(({ state }) => state === "queued")) sql.hint("commands");
  return added.map(({ id }) => id).sort((a, b) => a - b);
}
