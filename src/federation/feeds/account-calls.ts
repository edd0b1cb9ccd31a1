import type { AccountCalls } from "../../ecosystems/feed.ts";
import { callWaitMs, type RateLimit } from "../../ecosystems/kit/call-window.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { FedLink } from "../../store/tables/feed-accounts.ts";

export type CallTables = Pick<Transaction, "feedAccounts" | "clock">;

/**
 * Counts the calls of a link's account in the store, by the store's clock: the link may change its node, and other nodes
 * may own further links of the account.
 */
export function accountCalls(store: Store<CallTables>, link: FedLink): AccountCalls {
  const change = (calls: number, limits: readonly RateLimit[], waitFor: typeof callWaitMs) =>
    store.transaction(async (tx) => {
      const stored = await tx.feedAccounts.lockCalls(link);
      const nowMs = await tx.clock.nowMs();
      const rows = stored.map((row) => ({ ...row, callsMs: row.callsMs.map((ms) => Math.min(ms, nowMs)) }));
      // The clock was set back: future times are stored as the present, or they would block calls until it catches up.
      for (const [index, { callsMs }] of stored.entries()) {
        if (callsMs.some((ms) => ms > nowMs)) await tx.feedAccounts.setCalls(rows[index]!, rows[index]!.callsMs);
      }
      const own = rows.find(({ deviceId }) => deviceId === link.deviceId);
      if (!own) return undefined;
      const madeMs = rows.flatMap(({ callsMs }) => callsMs).sort((a, b) => a - b);
      const waitMs = waitFor(limits, madeMs, calls, nowMs);
      if (waitMs > 0) return waitMs;
      const most = Math.max(...limits.map((limit) => limit.calls));
      await tx.feedAccounts.setCalls(link, [...own.callsMs, ...Array<number>(calls).fill(nowMs)].slice(-most));
      return 0;
    });
  return {
    take: (calls, limits) => change(calls, limits, callWaitMs),
    async count(calls, limits) {
      await change(calls, limits, () => 0);
    },
  };
}
