import type { UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";

export interface SecTokenRow {
  readonly hash: string;
  readonly userId: UserId;
  readonly issuedMs: number;
  readonly usedMs: number;
}

/** Security tokens of the platform calls; only their SHA-256 is stored. */
export interface SecTokenTable {
  add(token: Pick<SecTokenRow, "userId" | "hash">, nowMs: number): Promise<void>;
  find(key: OwnedSecretKey): Promise<SecTokenRow | undefined>;
  renew(token: SecTokenRow, usedMs: number): Promise<void>;
  /** Returns whether the token existed. */
  remove(key: OwnedSecretKey): Promise<boolean>;
  removeOfUser(userId: UserId): Promise<void>;
  /** Keeps the `count` tokens of a user that were used last; returns how many were removed. */
  keepLastUsed(userId: UserId, count: number): Promise<number>;
  /** Removes expired tokens: last used before `usedMs`, or issued before `issuedMs`. */
  removeUnusedSince(usedMs: number, issuedMs: number): Promise<number>;
}

export function secTokenTable(sql: Sql): SecTokenTable {
  return {
    async add({ userId, hash }, nowMs) {
      await sql.run("INSERT INTO sec_tokens (user_id, hash, issued_ms, used_ms) VALUES ($1, $2, $3, $3)", [
        userId,
        hash,
        nowMs,
      ]);
    },
    find: ({ ownerId, hash }) =>
      first(
        sql.all<SecTokenRow>(
          `SELECT user_id AS "userId", hash, issued_ms AS "issuedMs", used_ms AS "usedMs" FROM sec_tokens
           WHERE ${isOfKey("user_id")}`,
          [ownerId, hash],
        ),
      ),
    async renew({ userId, hash }, usedMs) {
      await sql.run("UPDATE sec_tokens SET used_ms = $3 WHERE user_id = $1 AND hash = $2 AND used_ms < $3", [
        userId,
        hash,
        usedMs,
      ]);
    },
    remove: async ({ ownerId, hash }) =>
      (await sql.run(`DELETE FROM sec_tokens WHERE ${isOfKey("user_id")}`, [ownerId, hash])) > 0,
    async removeOfUser(userId) {
      await sql.run("DELETE FROM sec_tokens WHERE user_id = $1", [userId]);
    },
    keepLastUsed: (userId, count) =>
      sql.run(
        `DELETE FROM sec_tokens WHERE user_id = $1 AND hash IN (
           SELECT hash FROM sec_tokens WHERE user_id = $1 ORDER BY used_ms DESC, hash LIMIT 1000000 OFFSET $2)`,
        [userId, count],
      ),
    removeUnusedSince: (usedMs, issuedMs) =>
      sql.run("DELETE FROM sec_tokens WHERE used_ms < $1 OR issued_ms < $2", [usedMs, issuedMs]),
  };
}
