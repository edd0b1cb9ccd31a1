import pg from "pg";
import type { NodeId } from "../../model/ids.ts";
import type { PresenceLock } from "../node-bus.ts";
import { presenceKey } from "../tables/nodes.ts";
import { unavailable } from "./errors.ts";

const longestCheckMs = 3_000;

/**
 * Takes an advisory lock on a connection of its own: the server releases it when the process dies. The lock is shared, so
 * that a node can take it again while the server still holds its former, dead connection.
 */
export async function takePresenceLock(config: pg.ClientConfig, id: NodeId, onLost: () => void): Promise<PresenceLock> {
  const client = new pg.Client({ ...config, query_timeout: longestCheckMs });
  let isTaken = false;
  let isReleased = false;
  const close = () => {
    if (isReleased) return;
    isReleased = true;
    client.end().catch(() => undefined);
    // Before the lock is taken, the caller gets the error by the rejected promise.
    if (isTaken) onLost();
  };
  try {
    client.on("error", close);
    client.on("end", close);
    await client.connect();
    await client.query(`SELECT pg_advisory_lock_shared(${presenceKey("$1")})`, [id]);
  } catch (error) {
    close();
    throw unavailable(error);
  }
  if (isReleased) throw unavailable(new Error("the connection was lost"));
  isTaken = true;
  return {
    async check() {
      if (isReleased) throw unavailable(new Error("the connection was lost"));
      try {
        await client.query("SELECT 1");
      } catch (error) {
        close();
        throw unavailable(error);
      }
    },
    async release() {
      if (isReleased) return;
      isReleased = true;
      await client.end().catch(() => undefined);
    },
  };
}
