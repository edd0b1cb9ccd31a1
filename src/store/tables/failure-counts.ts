import { first, type Sql } from "../sql.ts";

/** How often something has failed in a row, by a key that tells nothing: a hash of who tried and from where. */
export interface FailureCountRow {
  readonly failures: number;
  /** How long ago the first of them was, and the last. */
  readonly sinceFirstMs: number;
  readonly sinceLastMs: number;
}

export interface FailureCountTable {
  find(key: string): Promise<FailureCountRow | undefined>;
  /** Counts one more; the count begins anew when the last was so long ago, or the first. */
  add(key: string, anew: { readonly afterLastMs?: number; readonly afterFirstMs?: number }): Promise<void>;
  remove(key: string): Promise<void>;
  /** Forgets what has been quiet for so long; answers how many there were. */
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
      // Nearly everybody has none, and nobody asks for the time then.
      if (!row) return undefined;
      const nowMs = await sql.nowMs();
      return { failures: row.failures, sinceFirstMs: nowMs - row.firstMs, sinceLastMs: nowMs - row.lastMs };
    },
    async add(key, { afterLastMs, afterFirstMs }) {
      const nowMs = await sql.nowMs();
      const before = (ms: number | undefined) => (ms === undefined ? -1 : nowMs - ms);
      const goesOn = "failure_counts.last_ms > $3 AND failure_counts.first_ms > $4";
      await sql.run(
        `INSERT INTO failure_counts (key, failures, first_ms, last_ms) VALUES ($1, 1, $2, $2)
         ON CONFLICT (key) DO UPDATE SET
           failures = CASE WHEN ${goesOn} THEN failure_counts.failures + 1 ELSE 1 END,
           first_ms = CASE WHEN ${goesOn} THEN failure_counts.first_ms ELSE excluded.first_ms END,
           last_ms = excluded.last_ms`,
        [key, nowMs, before(afterLastMs), before(afterFirstMs)],
      );
    },
    async remove(key) {
      await sql.run("DELETE FROM failure_counts WHERE key = $1", [key]);
    },
    removeQuiet: async (forMs) =>
      sql.run("DELETE FROM failure_counts WHERE last_ms <= $1", [(await sql.nowMs()) - forMs]),
  };
}
