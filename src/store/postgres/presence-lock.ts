import pg from "pg";
import type { NodeId } from "../../model/ids.ts";
import type { PresenceLock } from "../node-bus.ts";
import { presenceKey } from "../tables/nodes.ts";
import { unavailable } from "./errors.ts";

const longestCheckMs = 3_000;

/**
 * A node's place is an advisory lock that its own connection holds: the server gives it up in the moment in which the
 * process dies. Shared, so that a node can take it anew while a connection that broke without a word still lingers.
 */
export async function takePresenceLock(config: pg.ClientConfig, id: NodeId, lost: () => void): Promise<PresenceLock> {
  const client = new pg.Client({ ...config, query_timeout: longestCheckMs });
  let isTaken = false;
  let isOver = false;
  const giveUp = () => {
    if (isOver) return;
    isOver = true;
    client.end().catch(() => undefined);
    // Until it is taken, the caller hears of it otherwise.
    if (isTaken) lost();
  };
  try {
    client.on("error", giveUp);
    client.on("end", giveUp);
    await client.connect();
    await client.query(`SELECT pg_advisory_lock_shared(${presenceKey("$1")})`, [id]);
  } catch (error) {
    giveUp();
    throw unavailable(error);
  }
  if (isOver) throw unavailable(new Error("the connection broke"));
  isTaken = true;
  return {
    async check() {
      if (isOver) throw unavailable(new Error("the connection is gone"));
      try {
        await client.query("SELECT 1");
      } catch (error) {
        giveUp();
        throw unavailable(error);
      }
    },
    async leave() {
      if (isOver) return;
      isOver = true;
      await client.end().catch(() => undefined);
    },
  };
}
