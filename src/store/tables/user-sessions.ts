import type { UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import type { OwnedSecretKey } from "./owned-secret-key.ts";

/** A browser in which a user is signed in to the account page. */
export interface UserSessionRow {
  readonly userId: UserId;
  /** The SHA-256 of the cookie's secret. */
  readonly hash: string;
  readonly createdMs: number;
  readonly usedMs: number;
  /** When it ends if it is not used again. */
  readonly endsMs: number;
}

export interface UserSessionTable {
  add(session: UserSessionRow): Promise<void>;
  find(key: OwnedSecretKey): Promise<UserSessionRow | undefined>;
  /** Stores a use, with the new end. */
  used(session: UserSessionRow): Promise<void>;
  /** Returns whether it existed. */
  remove(key: OwnedSecretKey): Promise<boolean>;
  /** Returns how many there were. */
  removeOfUser(userId: UserId): Promise<number>;
  /** How many sessions of the user have not ended. */
  count(userId: UserId, nowMs: number): Promise<number>;
  /** Keeps the `count` sessions of a user that were used last; returns how many were removed. */
  keepLastUsed(userId: UserId, count: number): Promise<number>;
  removeEnded(nowMs: number): Promise<number>;
}

const columns = `user_id AS "userId", hash, created_ms AS "createdMs", used_ms AS "usedMs", ends_ms AS "endsMs"`;

export function userSessionTable(sql: Sql): UserSessionTable {
  const ofKey = "user_id = $1 AND hash = $2";
  return {
    async add({ userId, hash, createdMs, usedMs, endsMs }) {
      await sql.run(
        "INSERT INTO user_sessions (user_id, hash, created_ms, used_ms, ends_ms) VALUES ($1, $2, $3, $4, $5)",
        [userId, hash, createdMs, usedMs, endsMs],
      );
    },
    find: ({ ownerId, hash }) =>
      first(sql.all<UserSessionRow>(`SELECT ${columns} FROM user_sessions WHERE ${ofKey}`, [ownerId, hash])),
    async used({ userId, hash, usedMs, endsMs }) {
      await sql.run(`UPDATE user_sessions SET used_ms = $3, ends_ms = $4 WHERE ${ofKey} AND used_ms < $3`, [
        userId,
        hash,
        usedMs,
        endsMs,
      ]);
    },
    remove: async ({ ownerId, hash }) =>
      (await sql.run(`DELETE FROM user_sessions WHERE ${ofKey}`, [ownerId, hash])) > 0,
    removeOfUser: (userId) => sql.run("DELETE FROM user_sessions WHERE user_id = $1", [userId]),
    async count(userId, nowMs) {
      const [row] = await sql.all<{ count: number }>(
        "SELECT COUNT(*) AS count FROM user_sessions WHERE user_id = $1 AND ends_ms > $2",
        [userId, nowMs],
      );
      return Number(row?.count ?? 0);
    },
    keepLastUsed: (userId, count) =>
      sql.run(
        `DELETE FROM user_sessions WHERE user_id = $1 AND hash IN (
           SELECT hash FROM user_sessions WHERE user_id = $1 ORDER BY used_ms DESC, hash LIMIT 1000000 OFFSET $2)`,
        [userId, count],
      ),
    removeEnded: (nowMs) => sql.run("DELETE FROM user_sessions WHERE ends_ms <= $1", [nowMs]),
  };
}
