import type { DeviceId, UserId } from "../../model/ids.ts";
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

export interface LogTable {
  append(entry: LogEntry): Promise<void>;
  /** What became visible after that position, oldest first; nothing that comes later is ever before its last. */
  tail(after: LogPosition, limit: number): Promise<(LogEntry & { readonly position: LogPosition })[]>;
  /**
   * The bodies of revocations that became visible after the mark was taken, and the next mark. Some may come again;
   * none waits for another transaction to end, as the tail would have it.
   */
  revocations(mark: string | undefined): Promise<{ readonly bodies: readonly string[]; readonly mark: string }>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<LogEntry[]>;
  /** Answers how many there were. */
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** Revocations stay, as nobody's: a node that hasn't heard of one yet still has to. */
  removeOfUser(userId: UserId): Promise<number>;
}

export const logStart: LogPosition = { transaction: 0, id: 0 };

interface StoredEntry extends LogEntry {
  readonly transaction: number;
  readonly id: number;
}

/** The log's key needs a user; nobody has this id. */
const nobody = 0;

const columns = `NULLIF(user_id, ${nobody}) AS "userId", device_id AS "deviceId", kind, time_ms AS "timeMs", body, id`;

export function logTable(sql: Sql): LogTable {
  return {
    async append({ userId, deviceId, kind, timeMs, body }) {
      await sql.run("INSERT INTO log (user_id, device_id, kind, time_ms, body) VALUES ($1, $2, $3, $4, $5)", [
        userId ?? nobody,
        deviceId,
        kind,
        timeMs,
        body,
      ]);
    },
    async revocations(mark) {
      if (sql.dialect === "sqlite") {
        const rows = await sql.all<{ id: number; body: string }>(
          "SELECT id, body FROM log WHERE kind = 'revocation' AND id > $1 ORDER BY id",
          [Number(mark ?? 0)],
        );
        return { bodies: rows.map(({ body }) => body), mark: String(rows.at(-1)?.id ?? mark ?? 0) };
      }
      // All that ended before this snapshot's xmin was visible when the mark was taken; the rest is looked at again.
      const [now] = await sql.all<{ mark: string }>("SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS mark");
      const rows = await sql.all<{ body: string }>(
        "SELECT body FROM log WHERE kind = 'revocation' AND xid >= $1::text::xid8",
        [mark ?? now!.mark],
      );
      return { bodies: rows.map(({ body }) => body), mark: now!.mark };
    },
    async tail(after, limit) {
      const rows =
        sql.dialect === "postgres"
          ? // Every transaction below xmin has ended, so nothing can appear there any more.
            await sql.all<StoredEntry>(
              `SELECT ${columns}, xid::text::bigint AS transaction FROM log
               WHERE (xid, id) > ($1::text::xid8, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
               ORDER BY xid, id LIMIT $3`,
              [String(after.transaction), after.id, limit],
            )
          : await sql.all<StoredEntry>(
              `SELECT ${columns}, 0 AS "transaction" FROM log WHERE id > $1 ORDER BY id LIMIT $2`,
              [after.id, limit],
            );
      return rows.map(({ transaction, id, ...entry }) => ({ ...entry, position: { transaction, id } }));
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM log WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    async removeOfUser(userId) {
      await sql.run(`UPDATE log SET user_id = ${nobody} WHERE user_id = $1 AND kind = 'revocation'`, [userId]);
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
