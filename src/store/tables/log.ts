import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";

/**
 * What happened, in the order in which it became durable: it serves feeds and history, never recovery. One entry is one
 * commit to one device (or to none), with its one time; the body is JSON whose shape belongs to whoever wrote that kind.
 */
export interface LogEntry {
  /** Null when it concerns the deployment, or a client that speaks for nobody. */
  readonly userId: UserId | null;
  readonly deviceId: DeviceId | null;
  readonly kind: LogKind;
  readonly timeMs: number;
  readonly body: string;
}

export type LogKind = "attribute" | "device" | "link" | "alert" | "command" | "revocation";

/** A place in the log. PostgreSQL hands out ids before transactions end, so an id alone would skip late ones. */
export interface LogPosition {
  readonly transaction: number;
  readonly id: number;
}

/** An entry as those who follow the log meet it. */
export interface TailedEntry extends LogEntry {
  readonly position: LogPosition;
  /** Whose user it concerns; null when it concerns nobody who is still there. */
  readonly tenantId: TenantId | null;
}

export interface LogTable {
  append(entry: LogEntry): Promise<void>;
  /** What became visible after that position, oldest first; nothing that comes later is ever before its last. */
  tail(after: LogPosition, limit: number): Promise<TailedEntry[]>;
  /**
   * The position of the last entry that `tail` may give: all that becomes durable from now on comes after it, even if
   * the database crashes meanwhile.
   */
  end(): Promise<LogPosition>;
  /** Whether the log holds an entry at exactly that position. */
  holds(position: LogPosition): Promise<boolean>;
  /** Up to here entries were removed for their age: only who has seen this position has missed nothing. */
  horizon(): Promise<LogPosition>;
  /** Removes what is older, from the beginning of the log and at most so many entries; answers how many there were. */
  removeOlder(beforeMs: number, limit: number): Promise<number>;
  /** The changes of a device's attributes in that stretch of time (its end excluded), oldest first. */
  changes(userId: UserId, deviceId: DeviceId, stretch: TimeStretch, limit: number): Promise<LogEntry[]>;
  /**
   * The bodies of revocations that became visible since that position was the log's end, the oldest first and at most so
   * many. Some may come again; none waits for another transaction to end, as it would in `tail`.
   */
  revocations(after: LogPosition, limit: number): Promise<readonly string[]>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<LogEntry[]>;
  /** With what webhooks were to be told of it; answers how many entries there were. */
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** Revocations stay, as nobody's: a node that hasn't heard of one yet still has to. */
  removeOfUser(userId: UserId): Promise<number>;
}

export interface TimeStretch {
  readonly fromMs: number;
  readonly toMs: number;
}

export const logStart: LogPosition = { transaction: 0, id: 0 };

interface StoredEntry extends LogEntry {
  readonly transaction: number;
  readonly id: number;
}

interface TailedRow extends StoredEntry {
  readonly tenantId: TenantId | null;
}

/** Negative when the first comes before the second. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.transaction - b.transaction || a.id - b.id;
}

/** The log's key needs a user; nobody has this id. */
const nobody = 0;

const columns = `NULLIF(user_id, ${nobody}) AS "userId", device_id AS "deviceId", kind, time_ms AS "timeMs", body, id`;
const tenant = `(SELECT u.tenant_id FROM users u WHERE u.id = log.user_id) AS "tenantId"`;

export function logTable(sql: Sql): LogTable {
  /** Nothing becomes a delivery while what it would be made of goes (see WebhookTable.lockFeed). */
  const holdFeed = async () => {
    if (sql.dialect === "postgres") await sql.all("SELECT 1 FROM webhook_feed FOR UPDATE");
  };
  const horizon = async () => {
    const [row] = await sql.all<LogPosition>(`SELECT transaction_id AS "transaction", entry_id AS id FROM log_horizon`);
    return { ...(row ?? logStart) };
  };
  return {
    async append({ userId, deviceId, kind, timeMs, body }) {
      await sql.post("INSERT INTO log (user_id, device_id, kind, time_ms, body) VALUES ($1, $2, $3, $4, $5)", [
        userId ?? nobody,
        deviceId,
        kind,
        timeMs,
        body,
      ]);
      sql.hint("log");
      if (kind === "revocation") sql.hint("revocations");
    },
    async revocations({ transaction, id }, limit) {
      // Every transaction up to the end's had ended then, and its entries were visible.
      const rows =
        sql.dialect === "postgres"
          ? await sql.all<{ body: string }>(
              "SELECT body FROM log WHERE kind = 'revocation' AND xid > $1::text::xid8 ORDER BY xid, id LIMIT $2",
              [String(transaction), limit],
            )
          : await sql.all<{ body: string }>(
              "SELECT body FROM log WHERE kind = 'revocation' AND id > $1 ORDER BY id LIMIT $2",
              [id, limit],
            );
      return rows.map(({ body }) => body);
    },
    async tail(after, limit) {
      const rows =
        sql.dialect === "postgres"
          ? // Every transaction below xmin has ended, so nothing can appear there any more.
            await sql.all<TailedRow>(
              `SELECT ${columns}, ${tenant}, xid::text::bigint AS transaction FROM log
               WHERE (xid, id) > ($1::text::xid8, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
               ORDER BY xid, id LIMIT $3`,
              [String(after.transaction), after.id, limit],
            )
          : await sql.all<TailedRow>(
              `SELECT ${columns}, ${tenant}, 0 AS "transaction" FROM log WHERE id > $1 ORDER BY id LIMIT $2`,
              [after.id, limit],
            );
      return rows.map(({ transaction, id, ...entry }) => ({ ...entry, position: { transaction, id } }));
    },
    async end() {
      if (sql.dialect === "sqlite") {
        const [row] = await sql.all<LogPosition>(
          `SELECT 0 AS "transaction", seq AS id FROM sqlite_sequence WHERE name = 'log'`,
        );
        return row ?? logStart;
      }
      // Never a transaction id alone, such as the snapshot's xmin: ids that only aborted transactions used are handed out
      // again after a crash, and what happens then would stand before the end. An entry that is visible is durable.
      const [last, first] = await Promise.all([
        sql.all<LogPosition>(
          `SELECT xid::text::bigint AS transaction, id FROM log
           WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid DESC, id DESC LIMIT 1`,
        ),
        horizon(),
      ]);
      return last[0] && comparePositions(last[0], first) > 0 ? last[0] : first;
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
      const oldest =
        sql.dialect === "postgres"
          ? await sql.all<LogPosition & { timeMs: number }>(
              `SELECT xid::text::bigint AS transaction, id, time_ms AS "timeMs" FROM log
               WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT $1`,
              [limit],
            )
          : await sql.all<LogPosition & { timeMs: number }>(
              `SELECT 0 AS "transaction", id, time_ms AS "timeMs" FROM log ORDER BY id LIMIT $1`,
              [limit],
            );
      // A device whose clock ran ahead must not hold up all others: whatever stands before an old entry is as old.
      const last = oldest.findLast(({ timeMs }) => timeMs < beforeMs);
      if (!last) return 0;
      // Two nodes may do this at once: the horizon only ever moves on.
      await sql.run(
        "UPDATE log_horizon SET transaction_id = $1, entry_id = $2 WHERE (transaction_id, entry_id) < ($1, $2)",
        [last.transaction, last.id],
      );
      return sql.dialect === "postgres"
        ? sql.run("DELETE FROM log WHERE (xid, id) <= ($1::text::xid8, $2)", [String(last.transaction), last.id])
        : sql.run("DELETE FROM log WHERE id <= $1", [last.id]);
    },
    async changes(userId, deviceId, { fromMs, toMs }, limit) {
      const rows = await sql.all<StoredEntry>(
        `SELECT ${columns} FROM log WHERE user_id = $1 AND device_id = $2 AND time_ms >= $3 AND time_ms < $4
           AND kind = 'attribute' ORDER BY time_ms, id LIMIT $5`,
        [userId, deviceId, fromMs, toMs, limit],
      );
      return rows.map(({ id: _, ...entry }) => entry);
    },
    async removeOfDevice(userId, deviceId) {
      await holdFeed();
      await sql.run("DELETE FROM webhook_deliveries WHERE user_id = $1 AND device_id = $2", [userId, deviceId]);
      return sql.run("DELETE FROM log WHERE user_id = $1 AND device_id = $2", [userId, deviceId]);
    },
    async removeOfUser(userId) {
      await holdFeed();
      await sql.run(`UPDATE log SET user_id = ${nobody} WHERE user_id = $1 AND kind = 'revocation'`, [userId]);
      await sql.run("DELETE FROM webhook_deliveries WHERE user_id = $1", [userId]);
      return sql.run("DELETE FROM log WHERE user_id = $1", [userId]);
    },
    async ofDevice(userId, deviceId) {
      const rows = await sql.all<StoredEntry>(
        `SELECT ${columns} FROM log WHERE user_id = $1 AND device_id = $2 ORDER BY time_ms, id`,
        [userId, deviceId],
      );
      return rows.map(({ id: _, ...entry }) => entry);
    },
  };
}
