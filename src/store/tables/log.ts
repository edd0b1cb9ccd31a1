import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import { compressedText, expandedText } from "../compressed-text.ts";
import { insertRows } from "../inserted-rows.ts";
import type { Sql } from "../sql.ts";
import { noLinkedDevice, removeDeliveriesOfUser } from "./delivery-bounds.ts";
import { areOldThoughAhead, type DatedPosition } from "./entries-ahead.ts";
import { comparePositions, type LogPosition, logStart } from "./log-position.ts";
import { readStableEntries, unsettledFrom } from "./settled-entries.ts";

/**
 * An entry of the log: one commit to one device, or to none. The log serves event streams, webhooks and history, never
 * recovery. The body is JSON; its shape belongs to the writer of that kind of entry.
 */
export interface LogEntry {
  /** Null when the entry concerns the deployment, or a client that acts for no user. */
  readonly userId: UserId | null;
  readonly deviceId: DeviceId | null;
  readonly kind: LogKind;
  readonly timeMs: number;
  readonly body: string;
}

export type LogKind =
  | "attribute"
  | "thing"
  | "thingCommand"
  | "device"
  | "link"
  | "alert"
  | "thingAlert"
  | "command"
  | "linkSession"
  | "revocation";

/** An entry as readers of the log get it. */
export interface TailedEntry extends LogEntry {
  readonly position: LogPosition;
  /** The tenant of the entry's user; null when there is no user, or the user was removed. */
  readonly tenantId: TenantId | null;
}

export interface LogTable {
  append(entry: LogEntry): Promise<void>;
  /** Appends many entries in this order, with fewer statements. */
  appendAll(entries: readonly LogEntry[]): Promise<void>;
  /** Entries after the position, oldest first. No entry ever appears later before the last one that was returned. */
  tail(after: LogPosition, limit: number): Promise<TailedEntry[]>;
  /** The users of the entries that `tail` returns. Reading no bodies, it gets far with little work. */
  tailUsers(after: LogPosition, limit: number): Promise<EntryOfUser[]>;
  /**
   * The position of the last entry that `tail` can return. All entries that become durable later come after it, even if
   * the database crashes meanwhile.
   */
  end(): Promise<LogPosition>;
  /**
   * The age of the oldest entry that is committed and that `tail` does not return yet, because an open transaction may
   * append an entry before it. 0 when there is none.
   */
  hiddenForMs(): Promise<number>;
  /** Whether the log holds an entry at exactly that position. */
  holds(position: LogPosition): Promise<boolean>;
  /** The position up to which retention has removed entries. A reader that is behind it has missed entries. */
  horizon(): Promise<LogPosition>;
  /**
   * Removes entries, at most `limit`; returns how many. First what is left of the histories of removed devices, then
   * entries older than `beforeMs`, from the beginning of the log.
   */
  removeOlder(beforeMs: number, limit: number): Promise<number>;
  /**
   * Changes of a device's attributes, or of its things too, in a time range (its end excluded), oldest first. Entries of
   * one time are never divided: there can be a few more than `limit`, and the next page begins one millisecond later.
   */
  changes(
    userId: UserId,
    deviceId: DeviceId,
    range: TimeRange,
    limit: number,
    kinds?: "attributes" | "attributes and things",
  ): Promise<LogEntry[]>;
  /**
   * The bodies of revocations that became visible since `after` was the log's end, oldest first, at most `limit`. Some
   * may be returned twice. Unlike `tail`, it does not wait for other transactions to end.
   */
  revocations(after: LogPosition, limit: number): Promise<readonly string[]>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<LogEntry[]>;
  /**
   * Removes the entries of a device, and its webhook deliveries; returns the number of entries. Of a long history only
   * the newest are removed at once. No reader gets the others, and `removeOlder` removes them in slices.
   */
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /**
   * Removes the entries of a user, and all webhook deliveries about the user, also those to webhooks of a tenant.
   * Revocations stay, without the user: other nodes may not have read them yet.
   */
  removeOfUser(userId: UserId): Promise<number>;
  /** Removes at most `limit` of the entries that `removeOfUser` removes; returns how many. */
  removeEntriesOfUser(userId: UserId, limit: number): Promise<number>;
  /** Removes at most `limit` of the webhook deliveries about the user; returns how many. */
  removeDeliveriesOfUser(userId: UserId, limit: number): Promise<number>;
  /** Whether `removeOfUser` would remove more than `limit` entries, or more than `limit` deliveries. */
  hasMoreOfUser(userId: UserId, limit: number): Promise<boolean>;
}

export type EntryOfUser = Pick<TailedEntry, "position" | "userId" | "tenantId">;

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

interface StoredEntry extends Omit<LogEntry, "body"> {
  readonly body: string | Uint8Array;
  readonly transaction: number;
  readonly id: number;
}

interface TailedRow extends StoredEntry {
  readonly tenantId: TenantId | null;
}

/** Stands for no user in the log's primary key. No user has this id. */
const noUser = 0;

const user = `NULLIF(user_id, ${noUser}) AS "userId"`;
const columns = `${user}, device_id AS "deviceId", kind, time_ms AS "timeMs", body, id`;
const tenant = `(SELECT u.tenant_id FROM users u WHERE u.id = log.user_id) AS "tenantId"`;

/** Entries of a device that are removed in one transaction, for which all other writers wait on SQLite. */
const removedAtOnce = 2_000;
/** Hidden entries among which the oldest is searched. */
const hiddenLooks = 1_000;
/** Whether the entry is not of the history of a removed device. Most of the time `removed_histories` is empty. */
const isKept = keptIn("log");

/** The condition for a table or alias with rows of the log. */
export function keptIn(rows: string): string {
  return `NOT EXISTS (SELECT 1 FROM removed_histories r
  WHERE r.user_id = ${rows}.user_id AND r.device_id = ${rows}.device_id AND ${rows}.id <= r.last_id)`;
}

interface RemovedHistory {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  /** Later entries say that the device was removed, and stay. */
  readonly lastId: number;
}

/**
 * The transaction id of a new entry on PostgreSQL, which orders the log: its own one, or the latest in the log. A
 * transaction over several users can have an id from before it got the lock of one of them. Meanwhile another
 * transaction with a later id may have changed that user's devices, and the older change must not come last. No reader
 * sees such an entry too late: `tail` returns no later id while this transaction runs.
 */
export const entryTransaction = `GREATEST(pg_current_xact_id(), (SELECT latest.xid FROM log latest
  WHERE latest.xid > pg_current_xact_id() AND latest.xid < pg_snapshot_xmax(pg_current_snapshot())
  ORDER BY latest.xid DESC LIMIT 1))`;
const insertion = "INSERT INTO log (user_id, device_id, kind, time_ms, body)";
const orderedInsertion = "INSERT INTO log (user_id, device_id, kind, time_ms, body, xid)";
const insert = {
  sqlite: `${insertion} VALUES ($1, $2, $3, $4, $5)`,
  postgres: `${orderedInsertion} VALUES ($1, $2, $3, $4, $5, ${entryTransaction})`,
};

export function logTable(sql: Sql): LogTable {
  const valuesOf = ({ userId, deviceId, kind, timeMs, body }: LogEntry) =>
    [userId ?? noUser, deviceId, kind, timeMs, compressedText(body, sql.dialect)] as const;
  /** Prevents that entries become deliveries while they are removed (see WebhookTable.lockFeed). */
  const lockFeed = async () => {
    if (sql.dialect === "postgres") await sql.all("SELECT 1 FROM webhook_feed FOR UPDATE");
  };
  const rowsAfter = <Row>(selected: string, after: LogPosition, limit: number): Promise<Row[]> =>
    sql.dialect === "postgres"
      ? readStableEntries(sql, (bound) =>
          sql.all<Row>(
            `SELECT ${selected}, ${tenant}, xid::text::bigint AS transaction FROM log
             WHERE (xid, id) > ($1::text::xid8, $2) AND xid < ${unsettledFrom("$4")} AND ${isKept}
             ORDER BY xid, id LIMIT $3`,
            [String(after.transaction), after.id, limit, bound],
          ),
        )
      : sql.all<Row>(
          `SELECT ${selected}, ${tenant}, 0 AS "transaction" FROM log WHERE id > $1 AND ${isKept} ORDER BY id LIMIT $2`,
          [after.id, limit],
        );
  /** On SQLite an id alone finds its entry; with the user SQLite would look at all entries of the user. */
  const ofUser = sql.dialect === "postgres" ? "user_id = $1 AND" : "";
  const removeNewest = (userId: UserId, deviceId: DeviceId, lastId: number, limit: number) =>
    sql.run(
      `DELETE FROM log WHERE ${ofUser} id IN (SELECT id FROM log
         WHERE user_id = $1 AND device_id = $2 AND id <= $3 ORDER BY time_ms DESC, id DESC LIMIT $4)`,
      [userId, deviceId, lastId, limit],
    );
  /** Removes the next slice of the histories of removed devices. */
  const removeHistories = async (limit: number): Promise<number> => {
    // Two nodes may do this at once: each takes another history.
    const lock = sql.dialect === "postgres" ? "FOR UPDATE SKIP LOCKED" : "";
    const next = `SELECT user_id AS "userId", device_id AS "deviceId", last_id AS "lastId" FROM removed_histories
      ORDER BY user_id, device_id LIMIT 1 ${lock}`;
    for (;;) {
      const [history] = await sql.all<RemovedHistory>(next);
      if (!history) return 0;
      const { userId, deviceId, lastId } = history;
      const removed = await removeNewest(userId, deviceId, lastId, limit);
      if (removed < limit) {
        await sql.run("DELETE FROM removed_histories WHERE user_id = $1 AND device_id = $2", [userId, deviceId]);
      }
      if (removed > 0) return removed;
    }
  };
  const horizon = async () => {
    const [row] = await sql.all<LogPosition>(`SELECT transaction_id AS "transaction", entry_id AS id FROM log_horizon`);
    return { ...(row ?? logStart) };
  };
  return {
    async append(entry) {
      await sql.post(insert[sql.dialect], valuesOf(entry));
      sql.hint("log");
      if (entry.kind === "revocation") sql.hint("revocations");
    },
    async appendAll(entries) {
      if (sql.dialect === "sqlite") await insertRows(sql, insertion, entries.map(valuesOf));
      else {
        // Ids rise in the order of insertion.
        await sql.post(
          `${orderedInsertion} SELECT user_id, device_id, kind, time_ms, body, ${entryTransaction}
           FROM unnest($1::int[], $2::int[], $3::text[], $4::bigint[], $5::text[]) WITH ORDINALITY
             AS added (user_id, device_id, kind, time_ms, body, place) ORDER BY place`,
          [
            entries.map(({ userId }) => userId ?? noUser),
            entries.map(({ deviceId }) => deviceId),
            entries.map(({ kind }) => kind),
            entries.map(({ timeMs }) => timeMs),
            entries.map(({ body }) => body),
          ],
        );
      }
      sql.hint("log");
      if (entries.some(({ kind }) => kind === "revocation")) sql.hint("revocations");
    },
    async revocations({ transaction, id }, limit) {
      // When `after` was the end, all transactions up to its own had ended, and their entries were visible.
      const rows =
        sql.dialect === "postgres"
          ? await sql.all<Pick<StoredEntry, "body">>(
              "SELECT body FROM log WHERE kind = 'revocation' AND xid > $1::text::xid8 ORDER BY xid, id LIMIT $2",
              [String(transaction), limit],
            )
          : await sql.all<Pick<StoredEntry, "body">>(
              "SELECT body FROM log WHERE kind = 'revocation' AND id > $1 ORDER BY id LIMIT $2",
              [id, limit],
            );
      return rows.map(({ body }) => expandedText(body));
    },
    async tail(after, limit) {
      const rows = await rowsAfter<TailedRow>(columns, after, limit);
      return rows.map(({ transaction, id, ...entry }) => ({
        ...entry,
        body: expandedText(entry.body),
        position: { transaction, id },
      }));
    },
    async tailUsers(after, limit) {
      const rows = await rowsAfter<Omit<TailedRow, "body">>(`${user}, id`, after, limit);
      return rows.map(({ transaction, id, userId, tenantId }) => ({ userId, tenantId, position: { transaction, id } }));
    },
    async end() {
      if (sql.dialect === "sqlite") {
        const [row] = await sql.all<LogPosition>(
          `SELECT 0 AS "transaction", seq AS id FROM sqlite_sequence WHERE name = 'log'`,
        );
        return row ?? logStart;
      }
      // The position of a visible entry, which is durable, and not the snapshot's xmin: after a crash PostgreSQL reissues
      // transaction ids that only aborted transactions had used. New entries would then come before the end.
      const [last, first] = await Promise.all([
        readStableEntries(sql, (bound) =>
          sql.all<LogPosition>(
            `SELECT xid::text::bigint AS transaction, id FROM log
             WHERE xid < ${unsettledFrom("$1")} ORDER BY xid DESC, id DESC LIMIT 1`,
            [bound],
          ),
        ),
        horizon(),
      ]);
      return last[0] && comparePositions(last[0], first) > 0 ? last[0] : first;
    },
    async hiddenForMs() {
      if (sql.dialect === "sqlite") return 0;
      // The oldest of many: the first one may have the time of a clock that ran ahead.
      const [[oldest], nowMs] = await Promise.all([
        readStableEntries(sql, (bound) =>
          sql.all<{ timeMs: number | null }>(
            `SELECT MIN(time_ms) AS "timeMs" FROM
               (SELECT time_ms FROM log WHERE xid >= ${unsettledFrom("$1")} ORDER BY xid, id LIMIT $2) AS hidden`,
            [bound, hiddenLooks],
          ),
        ),
        sql.nowMs(),
      ]);
      return Math.max(0, nowMs - (oldest?.timeMs ?? nowMs));
    },
    async holds({ transaction, id }) {
      const found =
        sql.dialect === "postgres"
          ? await sql.all("SELECT 1 FROM log WHERE xid = $1::text::xid8 AND id = $2", [String(transaction), id])
          : await sql.all("SELECT 1 FROM log WHERE id = $1 AND 0 = $2", [id, transaction]);
      return found.length > 0;
    },
    horizon,
    async removeOlder(beforeMs, limit) {
      const ofRemoved = await removeHistories(limit);
      if (ofRemoved > 0) return ofRemoved;
      const oldest =
        sql.dialect === "postgres"
          ? await readStableEntries(sql, (bound) =>
              sql.all<DatedPosition>(
                `SELECT xid::text::bigint AS transaction, id, time_ms AS "timeMs" FROM log
                 WHERE xid < ${unsettledFrom("$2")} ORDER BY xid, id LIMIT $1`,
                [limit, bound],
              ),
            )
          : await sql.all<DatedPosition>(
              `SELECT 0 AS "transaction", id, time_ms AS "timeMs" FROM log ORDER BY id LIMIT $1`,
              [limit],
            );
      // The last old entry, not the first new one: a device whose clock ran ahead must not delay the retention of others.
      const lastOld = oldest.findLast(({ timeMs }) => timeMs < beforeMs);
      const last = lastOld ?? ((await areOldThoughAhead(sql, oldest, beforeMs)) ? oldest.at(-1) : undefined);
      if (!last) return 0;
      // Two nodes may do this at once: the horizon never moves back.
      await sql.run(
        "UPDATE log_horizon SET transaction_id = $1, entry_id = $2 WHERE (transaction_id, entry_id) < ($1, $2)",
        [last.transaction, last.id],
      );
      return sql.dialect === "postgres"
        ? sql.run("DELETE FROM log WHERE (xid, id) <= ($1::text::xid8, $2)", [String(last.transaction), last.id])
        : sql.run("DELETE FROM log WHERE id <= $1", [last.id]);
    },
    async changes(userId, deviceId, { fromMs, toMs }, limit, kinds = "attributes") {
      const isMeant = kinds === "attributes" ? "kind = 'attribute'" : "kind IN ('attribute', 'thing')";
      const ofDevice = `SELECT ${columns} FROM log WHERE user_id = $1 AND device_id = $2 AND ${isMeant} AND ${isKept}`;
      const rows = await sql.all<StoredEntry>(
        `${ofDevice} AND time_ms >= $3 AND time_ms < $4 ORDER BY time_ms, id LIMIT $5`,
        [userId, deviceId, fromMs, toMs, limit],
      );
      const last = rows.length < limit ? undefined : rows.at(-1);
      if (last) {
        const sameTime = `${ofDevice} AND time_ms = $3 AND id > $4 ORDER BY id`;
        rows.push(...(await sql.all<StoredEntry>(sameTime, [userId, deviceId, last.timeMs, last.id])));
      }
      return rows.map(({ id: _, ...entry }) => ({ ...entry, body: expandedText(entry.body) }));
    },
    async removeOfDevice(userId, deviceId) {
      await lockFeed();
      await sql.run("DELETE FROM webhook_deliveries WHERE user_id = $1 AND device_id = $2", [userId, deviceId]);
      const removed = await removeNewest(userId, deviceId, Number.MAX_SAFE_INTEGER, removedAtOnce);
      if (removed < removedAtOnce) return removed;
      // Not the device's last entry, which is not indexed: no entry of the device is behind the last one of all.
      await sql.run(
        `INSERT INTO removed_histories (user_id, device_id, last_id)
         SELECT CAST($1 AS INTEGER), CAST($2 AS INTEGER), COALESCE(MAX(id), 0) FROM log WHERE ${ofUser} id > 0
         ON CONFLICT (user_id, device_id) DO UPDATE SET last_id = excluded.last_id`,
        [userId, deviceId],
      );
      return removed;
    },
    async removeOfUser(userId) {
      await lockFeed();
      await sql.run(`UPDATE log SET user_id = ${noUser} WHERE user_id = $1 AND kind = 'revocation'`, [userId]);
      await removeDeliveriesOfUser(sql, userId);
      await sql.run("DELETE FROM removed_histories WHERE user_id = $1", [userId]);
      return sql.run("DELETE FROM log WHERE user_id = $1", [userId]);
    },
    async removeEntriesOfUser(userId, limit) {
      await lockFeed();
      return sql.run(
        `DELETE FROM log WHERE ${ofUser} id IN (SELECT id FROM log WHERE user_id = $1 AND kind <> 'revocation' LIMIT $2)`,
        [userId, limit],
      );
    },
    async removeDeliveriesOfUser(userId, limit) {
      await lockFeed();
      // The newest of a device first: the others wait for the oldest one. `removeOfUser` removes messages that those of
      // other users wait for.
      return sql.run(
        `DELETE FROM webhook_deliveries WHERE (owner_id, id) IN (SELECT owner_id, id FROM webhook_deliveries
           WHERE user_id = $1 AND device_id <> $3 ORDER BY device_id DESC, id DESC LIMIT $2)`,
        [userId, limit, noLinkedDevice],
      );
    },
    async hasMoreOfUser(userId, limit) {
      const hasMore = async (table: string) =>
        (await sql.all(`SELECT 1 FROM ${table} WHERE user_id = $1 LIMIT 1 OFFSET $2`, [userId, limit])).length > 0;
      return (await hasMore("log")) || (await hasMore("webhook_deliveries"));
    },
    async ofDevice(userId, deviceId) {
      const rows = await sql.all<StoredEntry>(
        `SELECT ${columns} FROM log WHERE user_id = $1 AND device_id = $2 AND ${isKept} ORDER BY time_ms, id`,
        [userId, deviceId],
      );
      return rows.map(({ id: _, ...entry }) => ({ ...entry, body: expandedText(entry.body) }));
    },
  };
}
