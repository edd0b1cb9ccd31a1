import type { Logger } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";

export interface SweepParts {
  readonly store: Store<SweepTables>;
  readonly runtime: { readonly report: Pick<Logger, "warn"> };
}

type SweepTables = Pick<Transaction, "linkSessions" | "clock">;

/** How long a session is kept after it has expired, so that its client can read how it ended. */
export const sessionKeptMs = 24 * 3_600_000;
/**
 * How long an expired session is kept whose credential no node could revoke: no node has its connector or its key, or
 * the service did not run.
 */
export const unrevokedKeptMs = 3 * 24 * 3_600_000;
const atOnce = 500;

/** Removes old sessions that have an end. Returns how many were removed. */
export async function sweepSessions({ store, runtime }: SweepParts, signal: AbortSignal): Promise<number> {
  const removeAll = async (remove: (tx: SweepTables, nowMs: number) => Promise<number>) => {
    let all = 0;
    while (!signal.aborted) {
      const removed = await store.transaction(async (tx) => remove(tx, await tx.clock.nowMs()), { background: true });
      all += removed;
      if (removed < atOnce) break;
    }
    return all;
  };
  const ended = await removeAll((tx, nowMs) => tx.linkSessions.removeExpired(nowMs - sessionKeptMs, atOnce));
  const unrevoked = await removeAll((tx, nowMs) => tx.linkSessions.removeUndiscarded(nowMs - unrevokedKeptMs, atOnce));
  if (unrevoked > 0) {
    runtime.report.warn({ sessions: unrevoked }, "credentials of expired link sessions were erased without revocation");
  }
  return ended + unrevoked;
}
