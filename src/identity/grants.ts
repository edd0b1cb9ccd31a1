import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

/**
 * Ends what clients were given, with every token of it, and tells the other nodes in the same transaction. Whoever calls
 * it tells this node's verification once the transaction is durable.
 */
export async function endGrants(
  tx: Pick<Transaction, "grants" | "log" | "clock">,
  grants: readonly GrantRow[],
): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const grant of grants) {
    if (!(await tx.grants.remove(grant))) continue;
    const { id, userId } = grant;
    const body = JSON.stringify({ grant: id });
    await tx.log.append({ userId, deviceId: null, kind: "revocation", timeMs: await tx.clock.nowMs(), body });
    ended.push(id);
  }
  return ended;
}
