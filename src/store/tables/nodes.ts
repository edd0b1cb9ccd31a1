import type { NodeId } from "../../model/ids.ts";
import { loginPageStep, schemaVersion, scopeStep, thingStep } from "../migrations.ts";
import type { Sql } from "../sql.ts";

/** The nodes and their heartbeats, on the store's clock. No decision compares the clocks of two machines. */
export interface NodeTable {
  /** Records a heartbeat with the keys of this node's key file, and returns the time on the store's clock. */
  beat(id: NodeId, keyIds?: readonly string[]): Promise<number>;
  /** All listed nodes with their last heartbeats and the schema that they know. Dead nodes stay listed for a while. */
  list(): Promise<ListedNode[]>;
  /** The keys of all listed nodes. Dead nodes stay listed until `forget` removes them. */
  keys(): Promise<NodeKeys[]>;
  leave(id: NodeId): Promise<void>;
  /**
   * Nodes with a heartbeat within the lease. With `mustHoldLock`, only those that hold their presence lock (node-bus.ts).
   * A heartbeat that is more than a lease ahead of the clock is none: the clock was set back since.
   */
  alive(leaseMs: number, mustHoldLock?: boolean): Promise<NodeId[]>;
  /** Whether the store has been up for a lease. Before that, a missing heartbeat does not mean that a node is dead. */
  isSettled(leaseMs: number): Promise<boolean>;
  /** Also forgets a node whose last heartbeat is as far ahead: the clock was set back since. */
  forget(silentForMs: number): Promise<number>;
  /** Whether all listed nodes know this step of the schema. */
  doAllKnow(step: number): Promise<boolean>;
  /** Whether all listed nodes enforce scopes. */
  doAllEnforceScopes(): Promise<boolean>;
  /** Whether all listed nodes show the login page at its own address. */
  doAllShowLoginPage(): Promise<boolean>;
  /** Listed nodes whose version follows links without writing their things. */
  withoutThings(): Promise<NodeId[]>;
  /** Makes versions that don't know this step of the schema refuse the store. Returns whether they did before. */
  refuseOlder(step: number): Promise<boolean>;
}

export interface ListedNode {
  readonly id: NodeId;
  /** The time since its last heartbeat. */
  readonly silentMs: number;
  /** Null for a version that does not report it. */
  readonly schemaVersion: number | null;
  readonly links: number;
}

/** The keys of a node's key file, as its last heartbeat reported them. */
export interface NodeKeys {
  readonly id: NodeId;
  /** The time since its last heartbeat. */
  readonly silentMs: number;
  /** The key that seals comes first. Undefined for an older version, which doesn't report its keys. */
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
    async list() {
      const nowMs = await sql.nowMs();
      const rows = await sql.all<Omit<ListedNode, "silentMs"> & { readonly beatMs: number }>(
        `SELECT n.id, n.beat_ms AS "beatMs", n.schema_version AS "schemaVersion",
           (SELECT COUNT(*) FROM links l WHERE l.owner = n.id) AS links FROM nodes n ORDER BY n.id`,
      );
      return rows.map(({ beatMs, ...node }) => ({
        ...node,
        links: Number(node.links),
        silentMs: silentMs(nowMs, beatMs),
      }));
    },
    async keys() {
      const nowMs = await sql.nowMs();
      const rows = await sql.all<{ id: NodeId; beatMs: number; keys: string | null }>(
        `SELECT id, beat_ms AS "beatMs", sealing_keys AS keys FROM nodes ORDER BY id`,
      );
      return rows.map(({ id, beatMs, keys }) => ({ id, silentMs: silentMs(nowMs, beatMs), keyIds: keys?.split(" ") }));
    },
    async leave(id) {
      await sql.run("DELETE FROM nodes WHERE id = $1", [id]);
      sql.hint("links");
    },
    async alive(leaseMs, mustHoldLock = false) {
      const holdsLock =
        sql.dialect === "postgres" && mustHoldLock ? `WHERE ${presenceKey("id")} IN (${heldPresenceKeys})` : "";
      // Both statements are sent together: the round trip takes longer than reading all of the few nodes.
      const [nowMs, nodes] = await Promise.all([
        sql.nowMs(),
        sql.all<{ id: NodeId; beatMs: number }>(`SELECT id, beat_ms AS "beatMs" FROM nodes ${holdsLock} ORDER BY id`),
      ]);
      return nodes.filter(({ beatMs }) => silentMs(nowMs, beatMs) < leaseMs).map(({ id }) => id);
    },
    async isSettled(leaseMs) {
      if (sql.dialect === "sqlite") return true;
      const [row] = await sql.all<{ upMs: number }>(
        `SELECT EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time())::float8 * 1000 AS "upMs"`,
      );
      // Before its own start: the clock was set back since, perhaps by hours. Nodes that ran then notice it themselves.
      return row!.upMs < 0 || row!.upMs > leaseMs;
    },
    doAllKnow,
    doAllEnforceScopes: () => doAllKnow(scopeStep),
    doAllShowLoginPage: () => doAllKnow(loginPageStep),
    async withoutThings() {
      const older = await sql.all<{ id: NodeId }>(
        "SELECT id FROM nodes WHERE schema_version IS NULL OR schema_version < $1",
        [thingStep],
      );
      return older.map(({ id }) => id);
    },
    refuseOlder: async (step) => (await sql.run("UPDATE schema_reach SET oldest = $1 WHERE oldest < $1", [step])) === 0,
    async forget(silentForMs) {
      const nowMs = await sql.nowMs();
      return sql.run("DELETE FROM nodes WHERE beat_ms < $1 OR beat_ms > $2", [
        nowMs - silentForMs,
        nowMs + silentForMs,
      ]);
    },
  };
}

/**
 * A heartbeat that is ahead of the clock is from before the clock was set back. A live node sends another one within
 * seconds, so this one is as old as it is ahead, at least for showing that its node is silent.
 */
function silentMs(nowMs: number, beatMs: number): number {
  return Math.abs(nowMs - beatMs);
}

/** SQL for the 64-bit number of a node's presence lock, a hash of its id. */
export function presenceKey(id: string): string {
  return `hashtextextended(${id}, 0)`;
}

/** The numbers of all advisory locks that are held in this database. PostgreSQL shows each number in two halves. */
const heldPresenceKeys = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
