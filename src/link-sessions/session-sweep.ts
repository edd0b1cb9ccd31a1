import type { Store, Transaction } from "../store/seam.ts";

/** How long a session is kept after it has expired, so that its client can read how it ended. */
export const sessionKeptMs = 24 * 3_600_000;
const atOnce = 500;

/** Removes old sessions that have an end. Returns how many were removed. */
export async function sweepSessions(
  { store }: { readonly store: Store<Pick<Transaction, "linkSessions" | "clock">> },
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const removed = await store.transaction(
      async (tx) => tx.linkSessions.removeExpired((await tx.clock.nowMs()) - sessionKeptMs, atOnce),
      { background: true },
    );
    all += removed;
    if (removed < atOnce) break;
  }
  return all;
}
