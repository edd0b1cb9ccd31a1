import type { NodeId } from "../../model/ids.ts";
import { schemaVersion, scopeStep, sealedAddressStep } from "../migrations.ts";
import type { Sql } from "../sql.ts";

/** Which nodes are alive, on the store's own clock: no decision compares the clocks of two machines. */
export interface NodeTable {
  /** Says that this node lives and which keys it holds, and answers what time it is by the store's clock. */
  beat(id: NodeId, keyIds?: readonly string[]): Promise<number>;
  /** The keys of all nodes that aren't forgotten yet. */
  keys(): Promise<NodeKeys[]>;
  leave(id: NodeId): Promise<void>;
  /** Nodes heard of within the lease, by the store's clock; and, if `inPlace`, whose place is taken (nodeBus.ts). */
  alive(leaseMs: number, inPlace?: boolean): Promise<NodeId[]>;
  /** Whether the store has been up for a lease: before that, silence says nothing about a node. */
  isSettled(leaseMs: number): Promise<boolean>;
  forget(silentForMs: number): Promise<number>;
  /** Whether all nodes that aren't forgotten yet can read sealed addresses. */
  areAllNew(): Promise<boolean>;
  /** Whether all nodes that aren't forgotten yet enforce scopes. */
  doAllEnforceScopes(): Promise<boolean>;
  /** From now on versions that can't read sealed addresses refuse this store; answers whether they did before. */
  refuseOld(): Promise<boolean>;
}

/** What a node's last heartbeat said about its key file. */
export interface NodeKeys {
  readonly id: NodeId;
  /** How long ago that was. */
  readonly silentMs: number;
  /** The key that seals first. Undefined: a version that doesn't say. */
  readonly keyIds: readonly string[] | undefined;
}

export function nodeTable(sql: Sql): NodeTable {
  const doAllKnow = async (step: number) =>
    (await sql.all("SELECT 1 FROM nodes WHERE schema_version IS NULL OR schema_version < $1 LIMIT 1", [step]))
      .length === 0;
  return {
    async beat(id, keyIds) {
      const nowMs = await sql.nowMs();
      await sql.run(
        `INSERT INTO nodes (id, beat_ms, schema_version, sealing_keys) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET beat_ms = excluded.beat_ms, schema_version = excluded.schema_version,
           sealing_keys = excluded.sealing_keys`,
        [id, nowMs, schemaVersion, keyIds?.join(" ") ?? null],
      );
      return nowMs;
    },
    async keys() {
      const nowMs = await sql.nowMs();
      const rows = await sql.all<{ id: NodeId; beatMs: number; keys: string | null }>(
        `SELECT id, beat_ms AS "beatMs", sealing_keys AS keys FROM nodes ORDER BY id`,
      );
      return rows.map(({ id, beatMs, keys }) => ({ id, silentMs: nowMs - beatMs, keyIds: keys?.split(" ") }));
    },
    async leave(id) {
      await sql.run("DELETE FROM nodes WHERE id = $1", [id]);
      sql.hint("links");
    },
    async alive(leaseMs, inPlace = false) {
      const isThere = sql.dialect === "postgres" && inPlace ? `WHERE ${presenceKey("id")} IN (${placesTaken})` : "";
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
    areAllNew: () => doAllKnow(sealedAddressStep),
    doAllEnforceScopes: () => doAllKnow(scopeStep),
    refuseOld: async () =>
      (await sql.run("UPDATE schema_reach SET oldest = $1 WHERE oldest < $1", [sealedAddressStep])) === 0,
    forget: async (silentForMs) => sql.run("DELETE FROM nodes WHERE beat_ms < $1", [(await sql.nowMs()) - silentForMs]),
  };
}

/** The number of the lock that is a node's place, of 64 bits: nodes have random names, so no two share one. */
export function presenceKey(id: string): string {
  return `hashtextextended(${id}, 0)`;
}

/** The locks of that kind which somebody holds in this database; PostgreSQL shows their numbers in two halves. */
const placesTaken = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
