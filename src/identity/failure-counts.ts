import { hash } from "node:crypto";
import type { Store, Transaction } from "../store/seam.ts";

/** How often something has failed, and how long ago the first and the last time were. */
export interface FailureCount {
  readonly failures: number;
  readonly sinceFirstMs: number;
  readonly sinceLastMs: number;
}

/** When counts are forgotten. */
export interface Forgetting {
  readonly forgetAfterMs: number;
  readonly sourceWindowMs: number;
}

/** Where failures are counted: those of a pair of account and source, and those of the source alone. */
export interface FailureCounts {
  find(pair: string, source: string): Promise<{ readonly ofPair?: FailureCount; readonly ofSource?: FailureCount }>;
  count(pair: string, source: string, forgetting: Forgetting): Promise<void>;
  forgive(pair: string): Promise<void>;
}

/** In this process, which is enough when there is no other; a restart forgives. The longest quiet ones go first. */
export function countsInMemory(nowMs: () => number, remembered: number): FailureCounts {
  type Remembered = { readonly failures: number; readonly firstMs: number; readonly lastMs: number };
  const pairs = new Map<string, Remembered>();
  const sources = new Map<string, Remembered>();
  const shown = (known: Remembered | undefined) =>
    known && {
      failures: known.failures,
      sinceFirstMs: nowMs() - known.firstMs,
      sinceLastMs: nowMs() - known.lastMs,
    };
  const add = (map: Map<string, Remembered>, key: string, goesOn: (count: FailureCount) => boolean) => {
    const known = map.get(key);
    const base = known && goesOn(shown(known)!) ? known : { failures: 0, firstMs: nowMs() };
    // Maps keep the order of insertion: what was touched last goes to the end, what was quiet longest is the first.
    map.delete(key);
    map.set(key, { failures: base.failures + 1, firstMs: base.firstMs, lastMs: nowMs() });
    for (const [oldest] of map) {
      if (map.size <= remembered) break;
      map.delete(oldest);
    }
  };
  return {
    async find(pair, source) {
      const [ofPair, ofSource] = [shown(pairs.get(pair)), shown(sources.get(source))];
      return { ...(ofPair && { ofPair }), ...(ofSource && { ofSource }) };
    },
    async count(pair, source, { forgetAfterMs, sourceWindowMs }) {
      add(pairs, pair, ({ sinceLastMs }) => sinceLastMs < forgetAfterMs);
      add(sources, source, ({ sinceFirstMs }) => sinceFirstMs < sourceWindowMs);
    },
    async forgive(pair) {
      pairs.delete(pair);
    },
  };
}

export type FailureTables = Pick<Transaction, "failureCounts">;

/**
 * In the store, on its clock: nodes that each counted for themselves would give a guesser the free failures of every
 * one. Who succeeds without having failed before writes nothing. Nodes that check at the same moment don't know of each
 * other's guess: with n of them up to n - 1 more may slip through, once, and all of them count.
 */
export function countsInStore(store: Store<FailureTables>, purpose: string): FailureCounts {
  const key = (kind: string, of: string) => hash("sha256", JSON.stringify([purpose, kind, of]), "base64url");
  return {
    find: (pair, source) =>
      store.read(async (tx) => {
        const [ofPair, ofSource] = await Promise.all([
          tx.failureCounts.find(key("pair", pair)),
          tx.failureCounts.find(key("source", source)),
        ]);
        return { ...(ofPair && { ofPair }), ...(ofSource && { ofSource }) };
      }),
    count: (pair, source, { forgetAfterMs, sourceWindowMs }) =>
      store.transaction(async (tx) => {
        await tx.failureCounts.add(key("pair", pair), { afterLastMs: forgetAfterMs });
        await tx.failureCounts.add(key("source", source), { afterFirstMs: sourceWindowMs });
      }),
    forgive: (pair) => store.transaction((tx) => tx.failureCounts.remove(key("pair", pair))),
  };
}
