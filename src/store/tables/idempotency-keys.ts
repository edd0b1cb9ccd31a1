import type { OwnerId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

/** An idempotency key of one owner. The hash covers the client and the key's text, so that neither is stored. */
export interface IdempotencyKey {
  readonly ownerId: OwnerId;
  readonly hash: string;
}

/** The answer to a keyed request: in clear, or sealed when it holds a secret. */
export type StoredAnswer =
  | { readonly isSealed: false; readonly text: string }
  | { readonly isSealed: true; readonly text: string };

export interface KeyUsage {
  readonly keys: number;
  readonly bytes: number;
}

export interface IdempotencyKeyTable {
  /** The answer of a key that has not expired. */
  find(key: IdempotencyKey): Promise<StoredAnswer | undefined>;
  /**
   * Stores the answer unless the key is taken, and returns whether it did. While another transaction stores the same
   * key, this one waits for its end.
   */
  add(key: IdempotencyKey, answer: StoredAnswer, keptMs: number): Promise<boolean>;
  /** What the keys of one owner take, expired ones included until the sweep removes them. */
  usage(ownerId: OwnerId): Promise<KeyUsage>;
  /** Removes at most `limit` expired keys, and returns how many. */
  removeExpired(limit: number): Promise<number>;
  remove(key: IdempotencyKey): Promise<void>;
  /** Removes the owner's keys, at most `limit`, and returns how many. */
  removeOfOwner(ownerId: OwnerId, limit?: number): Promise<number>;
}

/** The size of a row without its answer, roughly. */
const rowBytes = 100;

export function idempotencyKeyTable(sql: Sql): IdempotencyKeyTable {
  return {
    async find({ ownerId, hash }) {
      const row = await first(
        sql.all<{ answer: string | null; sealed: string | null; expiresMs: number }>(
          `SELECT answer, sealed_answer AS sealed, expires_ms AS "expiresMs" FROM idempotency_keys
           WHERE owner_id = $1 AND hash = $2`,
          [ownerId, hash],
        ),
      );
      if (!row || row.expiresMs <= (await sql.nowMs())) return undefined;
      return row.sealed === null ? { isSealed: false, text: row.answer ?? "" } : { isSealed: true, text: row.sealed };
    },
    async add({ ownerId, hash }, { isSealed, text }, keptMs) {
      const nowMs = await sql.nowMs();
      const bytes = Buffer.byteLength(text) + rowBytes;
      const stored = await sql.run(
        `INSERT INTO idempotency_keys (owner_id, hash, expires_ms, bytes, answer, sealed_answer)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (owner_id, hash) DO UPDATE SET expires_ms = excluded.expires_ms, bytes = excluded.bytes,
           answer = excluded.answer, sealed_answer = excluded.sealed_answer
         WHERE idempotency_keys.expires_ms <= $7`,
        [ownerId, hash, nowMs + keptMs, bytes, isSealed ? null : text, isSealed ? text : null, nowMs],
      );
      return stored === 1;
    },
    async usage(ownerId) {
      const [row] = await sql.all<KeyUsage>(
        "SELECT COUNT(*) AS keys, COALESCE(SUM(bytes), 0) AS bytes FROM idempotency_keys WHERE owner_id = $1",
        [ownerId],
      );
      return { keys: Number(row?.keys ?? 0), bytes: Number(row?.bytes ?? 0) };
    },
    removeExpired: async (limit) =>
      sql.run(
        `DELETE FROM idempotency_keys WHERE (owner_id, hash) IN (
           SELECT owner_id, hash FROM idempotency_keys WHERE expires_ms <= $1 ORDER BY expires_ms LIMIT $2)`,
        [await sql.nowMs(), limit],
      ),
    async remove({ ownerId, hash }) {
      await sql.run("DELETE FROM idempotency_keys WHERE owner_id = $1 AND hash = $2", [ownerId, hash]);
    },
    removeOfOwner: (ownerId, limit) =>
      limit === undefined
        ? sql.run("DELETE FROM idempotency_keys WHERE owner_id = $1", [ownerId])
        : sql.run(
            `DELETE FROM idempotency_keys WHERE owner_id = $1
               AND hash IN (SELECT hash FROM idempotency_keys WHERE owner_id = $1 LIMIT $2)`,
            [ownerId, limit],
          ),
  };
}
