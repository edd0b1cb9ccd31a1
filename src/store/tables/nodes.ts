import type { NodeId } from "../../model/ids.ts";
import { schemaVersion, sealedAddressStep } from "../migrations.ts";
import type { Sql } from "../sql.ts";

/** Which nodes are alive, on the store's own clock: no decision compares the clocks of two machines. */
export interface NodeTable {
  /** Says that this node lives, and answers what time it is by the store's clock. */
  beat(id: NodeId): Promise<number>;
  leave(id: NodeId): Promise<void>;
  /** Nodes heard of within the lease, by the store's clock; and, if `inPlace`, whose place is taken (neighbours.ts). */
  alive(leaseMs: number, inPlace?: boolean): Promise<NodeId[]>;
  /** Whether the store has been up for a lease: before that, silence says nothing about a node. */
  isSettled(leaseMs: number): Promise<boolean>;
  forget(silentForMs: number): Promise<number>;
  /** Whether all nodes that aren't forgotten yet can read sealed addresses. */
  areAllNew(): Promise<boolean>;
  /** From now on versions that can't read sealed addresses refuse this store; answers whether they did before. */
  refuseOld(): Promise<boolean>;
}

export function nodeTable(sql: Sql): NodeTable {
  return {
    async beat(id) {
      const nowMs = await sql.nowMs();
      await sql.run(
        `INSERT INTO nodes (id, beat_ms, schema_version) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET beat_ms = excluded.beat_ms, schema_version = excluded.schema_version`,
        [id, nowMs, schemaVersion],
      );
      return nowMs;
    },
    async leave(id) {
      await sql.run("DELETE FROM nodes WHERE id = $1", [id]);
      sql.hint("links");
    },
    async alive(leaseMs, inPlace = false) {
      const isThere = sql.dialect === "postgres" && inPlace ? `WHERE ${placeKey("id")} IN (${placesTaken})` : "";
      // Both at once: there are few nodes, and the way to the store takes longer than to look at them.
      const [nowMs, nodes] = await Promise.all([
        sql.nowMs(),
        sql.all<{ id: NodeId; beatMs: number }>(`SELECT id, beat_ms AS "beatMs" FROM nodes ${isThere} ORDER BY id`),
      ]);
      return nodes.filter(({ beatMs }) => beatMs > nowMs - leaseMs).map(({ id }) => id);
    },
    async isSettled(leaseMs) {
      if (sql.dialect === "sqlite") return true;
      const [row] = await sql.all<{ isSettled: boolean }>(
        `SELECT clock_timestamp() - pg_postmaster_start_time() > $1 * interval '1 millisecond' AS "isSettled"`,
        [leaseMs],
      );
      return row!.isSettled;
    },
    areAllNew: async () =>
      (
        await sql.all("SELECT 1 FROM nodes WHERE schema_version IS NULL OR schema_version < $1 LIMIT 1", [
          sealedAddressStep,
        ])
      ).length === 0,
    refuseOld: async () =>
      (await sql.run("UPDATE schema_reach SET oldest = $1 WHERE oldest < $1", [sealedAddressStep])) === 0,
    forget: async (silentForMs) => sql.run("DELETE FROM nodes WHERE beat_ms < $1", [(await sql.nowMs()) - silentForMs]),
  };
}

/** The number of the lock that is a node's place, of 64 bits: nodes have random names, so no two share one. */
export function placeKey(id: string): string {
  return `hashtextextended(${id}, 0)`;
}

/** The locks of that kind which somebody holds in this database; PostgreSQL shows their numbers in two halves. */
const placesTaken = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
