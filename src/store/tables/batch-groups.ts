import { first, type Sql } from "../sql.ts";
import type { IdempotencyKey, KeyUsage } from "./idempotency-keys.ts";

/** One transaction of a batch with an idempotency key: which lines it carried out, and how each was answered. */
export interface BatchGroup {
  readonly lines: number;
  /** A hash of the text of these lines. */
  readonly digest: string;
  readonly answers: string;
}

/** The groups of a batch are numbered from 0. They belong to the idempotency key of the batch. */
export interface BatchGroupTable {
  find(key: IdempotencyKey, number: number): Promise<BatchGroup | undefined>;
  /** Returns false when another request with the same key has stored a group of this number. */
  add(key: IdempotencyKey, number: number, group: BatchGroup, keptMs: number): Promise<boolean>;
  /** Returns false when the answers are not `from` any more: another request with the same key has replaced them. */
  replaceAnswers(key: IdempotencyKey, number: number, from: string, to: string): Promise<boolean>;
  /** How many groups an owner has, and the bytes of their answers. */
  usage(ownerId: IdempotencyKey["ownerId"]): Promise<KeyUsage>;
  /** Removes the groups of a key that has expired and is used again. */
  remove(key: IdempotencyKey): Promise<void>;
  /** Removes at most `limit` expired groups, and returns how many. */
  removeExpired(limit: number): Promise<number>;
}

/** The size of a row without its answers, roughly. */
const rowBytes = 150;

export function batchGroupTable(sql: Sql): BatchGroupTable {
  return {
    find: ({ ownerId, hash }, number) =>
      first(
        sql.all<BatchGroup>(
          "SELECT lines, digest, answers FROM batch_groups WHERE owner_id = $1 AND hash = $2 AND number = $3",
          [ownerId, hash, number],
        ),
      ),
    async add({ ownerId, hash }, number, { lines, digest, answers }, keptMs) {
      const bytes = Buffer.byteLength(answers) + rowBytes;
      const added = await sql.run(
        `INSERT INTO batch_groups (owner_id, hash, number, lines, digest, answers, bytes, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (owner_id, hash, number) DO NOTHING`,
        [ownerId, hash, number, lines, digest, answers, bytes, (await sql.nowMs()) + keptMs],
      );
      return added === 1;
    },
    async replaceAnswers({ ownerId, hash }, number, from, to) {
      const replaced = await sql.run(
        `UPDATE batch_groups SET answers = $5, bytes = $6
         WHERE owner_id = $1 AND hash = $2 AND number = $3 AND answers = $4`,
        [ownerId, hash, number, from, to, Buffer.byteLength(to) + rowBytes],
      );
      return replaced === 1;
    },
    async usage(ownerId) {
      const [row] = await sql.all<KeyUsage>(
        "SELECT COUNT(*) AS keys, COALESCE(SUM(bytes), 0) AS bytes FROM batch_groups WHERE owner_id = $1",
        [ownerId],
      );
      return { keys: Number(row!.keys), bytes: Number(row!.bytes) };
    },
    async remove({ ownerId, hash }) {
      await sql.run("DELETE FROM batch_groups WHERE owner_id = $1 AND hash = $2", [ownerId, hash]);
    },
    removeExpired: async (limit) =>
      sql.run(
        `DELETE FROM batch_groups WHERE (owner_id, hash, number) IN (
           SELECT owner_id, hash, number FROM batch_groups WHERE expires_ms <= $1 ORDER BY expires_ms LIMIT $2)`,
        [await sql.nowMs(), limit],
      ),
  };
}
