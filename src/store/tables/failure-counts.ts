import { first, type Sql } from "../sql.ts";

/** Consecutive failures under one key, which is a hash of the account and the source address. */
export interface FailureCountRow {
  readonly failures: number;
  /** How long ago the first and the last failure were. */
  readonly sinceFirstMs: number;
  readonly sinceLastMs: number;
}

export interface FailureCountTable {
  find(key: string): Promise<FailureCountRow | undefined>;
  /** Counts one failure; returns the new count. It restarts when the last failure, or the first, was too long ago. */
  add(key: string, resetAfter: { readonly afterLastMs?: number; readonly afterFirstMs?: number }): Promise<number>;
  remove(key: string): Promise<void>;
  /** Removes counts without a failure for so long; returns how many. */
  removeQuiet(forMs: number): Promise<number>;
}

export function failureCountTable(sql: Sql): FailureCountTable {
  return {
    async find(key) {
      const row = await first(
        sql.all<{ failures: number; firstMs: number; lastMs: number }>(
          `SELECT failures, first_ms AS "firstMs", last_ms AS "lastMs" FROM failure_counts WHERE key = $1`,
          [key],
        ),
      );
      // Most keys have no row. Then reading the clock is not needed.
      if (!row) return undefined;
      const nowMs = await sql.nowMs();
      return { failures: row.failures, sinceFirstMs: nowMs - row.firstMs, sinceLastMs: nowMs - row.lastMs };
    },
    async add(key, { afterLastMs, afterFirstMs }) {
      const nowMs = await sql.nowMs();
      const before = (ms: number | undefined) => (ms === undefined ? -1 : nowMs - ms);
      const continues = "failure_counts.last_ms > $3 AND failure_counts.first_ms > $4";
      const [row] = await sql.all<{ failures: number }>(
        `INSERT INTO failure_counts (key, failures, first_ms, last_ms) VALUES ($1, 1, $2, $2)
         ON CONFLICT (key) DO UPDATE SET
           failures = CASE WHEN ${continues} THEN failure_counts.failures + 1 ELSE 1 END,
           first_ms = CASE WHEN ${continues} THEN failure_counts.first_ms ELSE excluded.first_ms END,
           last_ms = excluded.last_ms
         RETURNING failures`,
        [key, nowMs, before(afterLastMs), before(afterFirstMs)],
      );
      return row!.failures;
    },
    async remove(key) {
      await sql.run("DELETE FROM failure_counts WHERE key = $1", [key]);
    },
    removeQuiet: async (forMs) =>
      sql.run("DELETE FROM failure_counts WHERE last_ms <= $1", [(await sql.nowMs()) - forMs]),
  };
}
