import { hash } from "node:crypto";
import type { Store, Transaction } from "../store/seam.ts";

/** The number of consecutive failures, and how long ago the first and the last were. */
export interface FailureCount {
  readonly failures: number;
  readonly sinceFirstMs: number;
  readonly sinceLastMs: number;
}

/** When a count restarts: a pair's after a quiet time, a source's after a fixed window. */
export interface ResetRules {
  readonly forgetAfterMs: number;
  readonly sourceWindowMs: number;
}

/** Counts failures of each pair of account and source, and of each source alone. */
export interface FailureCounts {
  find(pair: string, source: string, account: string): Promise<FoundCounts>;
  count(pair: string, source: string, rules: ResetRules): Promise<void>;
  reset(pair: string): Promise<void>;
  /** Records that an account was unlocked now: earlier failures of its pairs count no more. */
  unlock(account: string): Promise<void>;
}

export interface FoundCounts {
  readonly ofPair?: FailureCount;
  readonly ofSource?: FailureCount;
  /** How long ago the account was unlocked; absent when it was not, or long ago. */
  readonly unlockedSinceMs?: number;
}

/**
 * Counts in memory, for a single node; a restart resets them. A monotonic clock measures them: a wall clock that is set
 * back would extend the delays. Beyond `most`, the least recent counts are evicted.
 */
export function countsInMemory(elapsedMs: () => number, most: number): FailureCounts {
  type StoredCount = { readonly failures: number; readonly firstMs: number; readonly lastMs: number };
  const pairs = new Map<string, StoredCount>();
  const sources = new Map<string, StoredCount>();
  const unlocked = new Map<string, number>();
  const toCount = (stored: StoredCount | undefined) =>
    stored && {
      failures: stored.failures,
      sinceFirstMs: elapsedMs() - stored.firstMs,
      sinceLastMs: elapsedMs() - stored.lastMs,
    };
  const add = (map: Map<string, StoredCount>, key: string, continues: (count: FailureCount) => boolean) => {
    const stored = map.get(key);
    const base = stored && continues(toCount(stored)!) ? stored : { failures: 0, firstMs: elapsedMs() };
    // LRU: a Map keeps the order of insertion, so the first entry is the least recent one.
    map.delete(key);
    map.set(key, { failures: base.failures + 1, firstMs: base.firstMs, lastMs: elapsedMs() });
    for (const [oldest] of map) {
      if (map.size <= most) break;
      map.delete(oldest);
    }
  };
  return {
    async find(pair, source, account) {
      const [ofPair, ofSource] = [toCount(pairs.get(pair)), toCount(sources.get(source))];
      const unlockedMs = unlocked.get(account);
      return {
        ...(ofPair && { ofPair }),
        ...(ofSource && { ofSource }),
        ...(unlockedMs !== undefined && { unlockedSinceMs: elapsedMs() - unlockedMs }),
      };
    },
    async count(pair, source, { forgetAfterMs, sourceWindowMs }) {
      add(pairs, pair, ({ sinceLastMs }) => sinceLastMs < forgetAfterMs);
      add(sources, source, ({ sinceFirstMs }) => sinceFirstMs < sourceWindowMs);
    },
    async reset(pair) {
      pairs.delete(pair);
    },
    async unlock(account) {
      unlocked.delete(account);
      unlocked.set(account, elapsedMs());
      if (unlocked.size > most) unlocked.delete(unlocked.keys().next().value!);
    },
  };
}

export type FailureTables = Pick<Transaction, "failureCounts">;

/**
 * Counts in the store, on its clock, for several nodes: with a count on each node, an attacker would get the free
 * failures of all of them. A success without former failures writes nothing. Nodes that check at the same moment don't
 * see each other's failures: with n nodes, up to n - 1 further guesses may pass once, and all are counted.
 */
export function countsInStore(store: Store<FailureTables>, purpose: string): FailureCounts {
  const key = (kind: string, name: string) => hash("sha256", JSON.stringify([purpose, kind, name]), "base64url");
  return {
    find: (pair, source, account) =>
      store.read(async (tx) => {
        const [ofPair, ofSource, unlocked] = await Promise.all([
          tx.failureCounts.find(key("pair", pair)),
          tx.failureCounts.find(key("source", source)),
          tx.failureCounts.find(key("unlocked", account)),
        ]);
        return {
          ...(ofPair && { ofPair }),
          ...(ofSource && { ofSource }),
          ...(unlocked && { unlockedSinceMs: unlocked.sinceLastMs }),
        };
      }),
    count: (pair, source, { forgetAfterMs, sourceWindowMs }) =>
      store.transaction(async (tx) => {
        await tx.failureCounts.add(key("pair", pair), { afterLastMs: forgetAfterMs });
        await tx.failureCounts.add(key("source", source), { afterFirstMs: sourceWindowMs });
      }),
    reset: (pair) => store.transaction((tx) => tx.failureCounts.remove(key("pair", pair))),
    // The row is a time, not a count. It is removed with old counts, when no pair's count can be older.
    unlock: (account) =>
      store.transaction(async (tx) => {
        await tx.failureCounts.add(key("unlocked", account), {});
      }),
  };
}
