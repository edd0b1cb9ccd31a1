import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

/**
 * Ends grants with all their tokens, and appends revocations to the log for the other nodes. Returns the ids of the ended
 * grants. The caller passes them to this node's token verification when the transaction is durable.
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
