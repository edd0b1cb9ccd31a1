import type { NodeId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";

/** Which nodes are alive, on the store's own clock: no decision compares the clocks of two machines. */
export interface NodeTable {
  /** Says that this node lives. */
  beat(id: NodeId): Promise<void>;
  leave(id: NodeId): Promise<void>;
  /** Nodes heard of within the lease, by the store's clock. */
  alive(leaseMs: number): Promise<NodeId[]>;
  forget(silentForMs: number): Promise<number>;
}

export function nodeTable(sql: Sql): NodeTable {
  return {
    async beat(id) {
      await sql.run(
        `INSERT INTO nodes (id, beat_ms) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET beat_ms = excluded.beat_ms`,
        [id, await sql.nowMs()],
      );
    },
    async leave(id) {
      await sql.run("DELETE FROM nodes WHERE id = $1", [id]);
    },
    async alive(leaseMs) {
      const since = (await sql.nowMs()) - leaseMs;
      const rows = await sql.all<{ id: NodeId }>("SELECT id FROM nodes WHERE beat_ms > $1 ORDER BY id", [since]);
      return rows.map(({ id }) => id);
    },
    forget: async (silentForMs) => sql.run("DELETE FROM nodes WHERE beat_ms < $1", [(await sql.nowMs()) - silentForMs]),
  };
}
