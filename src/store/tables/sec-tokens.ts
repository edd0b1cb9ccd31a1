import type { UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

export interface SecTokenRow {
  readonly userId: UserId;
  readonly issuedMs: number;
  readonly usedMs: number;
}

/** Security tokens of the platform calls; only their SHA-256 is kept. */
export interface SecTokenTable {
  add(hash: string, userId: UserId, nowMs: number): Promise<void>;
  find(hash: string): Promise<SecTokenRow | undefined>;
  renew(hash: string, usedMs: number): Promise<void>;
  /** Answers whether there was one. */
  remove(hash: string): Promise<boolean>;
  removeOfUser(userId: UserId): Promise<void>;
  /** Clears away what nobody can use any more. */
  removeUnusedSince(usedMs: number, issuedMs: number): Promise<number>;
}

export function secTokenTable(sql: Sql): SecTokenTable {
  return {
    async add(hash, userId, nowMs) {
      await sql.run("INSERT INTO sec_tokens (hash, user_id, issued_ms, used_ms) VALUES ($1, $2, $3, $3)", [
        hash,
        userId,
        nowMs,
      ]);
    },
    find: (hash) =>
      first(
        sql.all<SecTokenRow>(
          `SELECT user_id AS "userId", issued_ms AS "issuedMs", used_ms AS "usedMs" FROM sec_tokens WHERE hash = $1`,
          [hash],
        ),
      ),
    async renew(hash, usedMs) {
      await sql.run("UPDATE sec_tokens SET used_ms = $2 WHERE hash = $1 AND used_ms < $2", [hash, usedMs]);
    },
    remove: async (hash) => (await sql.run("DELETE FROM sec_tokens WHERE hash = $1", [hash])) > 0,
    async removeOfUser(userId) {
      await sql.run("DELETE FROM sec_tokens WHERE user_id = $1", [userId]);
    },
    removeUnusedSince: (usedMs, issuedMs) =>
      sql.run("DELETE FROM sec_tokens WHERE used_ms < $1 OR issued_ms < $2", [usedMs, issuedMs]),
  };
}
