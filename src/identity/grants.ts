import { restOfChange } from "../model/errors.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

export type GrantTables = Pick<Transaction, "grants" | "log" | "clock">;

/** Grants that one transaction ends when there are many. On SQLite all writers wait for it. */
export const grantsAtOnce = 100;

/**
 * Ends grants with all their tokens, and appends revocations to the log for the other nodes. Returns the ids of the ended
 * grants. The caller passes them to this node's token verification when the transaction is durable.
 */
export async function endGrants(tx: GrantTables, grants: readonly GrantRow[]): Promise<readonly string[]> {
  if (grants.length === 0) return [];
  const ended = await tx.grants.removeAll(grants);
  const timeMs = await tx.clock.nowMs();
  await tx.log.appendAll(
    ended.map(({ id, userId }) => {
      const body = JSON.stringify({ grant: id });
      return { userId, deviceId: null, kind: "revocation", timeMs, body };
    }),
  );
  return ended.map(({ id }) => id);
}

export interface GrantEnding {
  readonly store: Store<GrantTables>;
  /** At most `limit` of the grants to end. */
  readonly find: (tx: GrantTables, limit: number) => Promise<readonly GrantRow[]>;
  readonly grantsEnded: (grantIds: readonly string[]) => void;
}

/**
 * Ends grants in transactions of `grantsAtOnce`, until at most so many are left. The transaction that follows ends those,
 * with the change that they end for. Returns the ids of the ended grants. After a crash, the same call continues.
 * Rejects with OutcomeUnknown when the store fails after some have ended.
 */
export async function endMostGrants({ store, find, grantsEnded }: GrantEnding): Promise<readonly string[]> {
  const all: string[] = [];
  for (;;) {
    const ended = await restOfChange(all.length > 0, async () => {
      const some = await store.read((tx) => find(tx, grantsAtOnce + 1));
      if (some.length <= grantsAtOnce) return undefined;
      return store.transaction((tx) => endGrants(tx, some.slice(0, grantsAtOnce)));
    });
    if (!ended) return all;
    grantsEnded(ended);
    all.push(...ended);
  }
}
