import type { NodeId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

/** Which node pulls the feed of an ecosystem, and whether the feed answers. */
export interface FeedLease {
  readonly ecosystem: string;
  readonly owner: NodeId | null;
  /** When the feed last answered, by the store's clock. */
  readonly answeredMs: number;
  /** Why it gives no answer now; null when it does. */
  readonly fault: string | null;
}

export interface FeedLeaseTable {
  find(ecosystem: string): Promise<FeedLease | undefined>;
  all(): Promise<FeedLease[]>;
  /** Records how the feed answers. False when the node does not hold the lease. */
  renew(ecosystem: string, owner: NodeId, health: Pick<FeedLease, "answeredMs" | "fault">): Promise<boolean>;
  /**
   * Takes the lease if no node of `living` holds it. `living` undefined: not certain which nodes are alive, so only a
   * free lease is taken. The feed counts as answering from now on, until it proves otherwise.
   */
  take(ecosystem: string, owner: NodeId, living: readonly NodeId[] | undefined, nowMs: number): Promise<boolean>;
  release(ecosystem: string, owner: NodeId): Promise<void>;
}

const columns = `ecosystem, owner, answered_ms AS "answeredMs", fault`;

export function feedLeaseTable(sql: Sql): FeedLeaseTable {
  return {
    find: (ecosystem) =>
      first(sql.all<FeedLease>(`SELECT ${columns} FROM feed_leases WHERE ecosystem = $1`, [ecosystem])),
    all: () => sql.all(`SELECT ${columns} FROM feed_leases ORDER BY ecosystem`),
    renew: async (ecosystem, owner, { answeredMs, fault }) =>
      (await sql.run("UPDATE feed_leases SET answered_ms = $3, fault = $4 WHERE ecosystem = $1 AND owner = $2", [
        ecosystem,
        owner,
        answeredMs,
        fault,
      ])) > 0,
    async take(ecosystem, owner, living, nowMs) {
      const isDead =
        sql.dialect === "postgres"
          ? "NOT feed_leases.owner = ANY($4::text[])"
          : "feed_leases.owner NOT IN (SELECT value FROM json_each($4))";
      const taken = await sql.run(
        `INSERT INTO feed_leases (ecosystem, owner, answered_ms, fault) VALUES ($1, $2, $3, NULL)
         ON CONFLICT (ecosystem) DO UPDATE SET owner = excluded.owner, answered_ms = excluded.answered_ms, fault = NULL
         WHERE feed_leases.owner IS NULL${living ? ` OR ${isDead}` : ""}`,
        living ? [ecosystem, owner, nowMs, living] : [ecosystem, owner, nowMs],
      );
      return taken > 0;
    },
    async release(ecosystem, owner) {
      await sql.run("UPDATE feed_leases SET owner = NULL WHERE ecosystem = $1 AND owner = $2", [ecosystem, owner]);
    },
  };
}
