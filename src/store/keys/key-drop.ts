import { Conflict, NotFound } from "../../model/errors.ts";
import type { Store, Transaction } from "../seam.ts";
import type { SealedLocation } from "../tables/sealed-values.ts";
import { holdersOf, refuseHeld } from "./key-nodes.ts";
import { changeUsedKeys, retireKeys, usedKeys } from "./used-keys.ts";

/** A value that was lost with its key. */
export type LostValue =
  | { readonly kind: "link"; readonly userId: number; readonly deviceId: number; readonly ecosystem: string }
  | { readonly kind: "webhook" | "outlet"; readonly id: string; readonly ownerId: number; readonly clientId: string };

export interface DropParts {
  readonly store: Store;
  /** Drops one value that can't be opened any more; returns what the operator has to know about. */
  readonly dropValue: (tx: Transaction, location: SealedLocation) => Promise<LostValue | undefined>;
  /** The ids of the keys in the key file; none when there is no file. */
  readonly inFile: readonly string[];
  /** Returns the id of the key that seals from now on, and creates the key file if it is missing. */
  readonly currentKey: () => string;
}

const valuesAtOnce = 100;

/**
 * Drops all values that a lost key sealed. Each page of values has its own transaction, so an interrupted drop continues
 * when it is run again. The store's list of needed keys is changed last.
 */
export async function dropKey({ store, dropValue, inFile, currentKey }: DropParts, keyId: string, isForced: boolean) {
  const { used, counts, nodes } = await store.read(async (tx) => ({
    used: await usedKeys(tx),
    counts: await tx.sealedValues.countByKey(),
    nodes: await tx.nodes.keys(),
  }));
  if (inFile.includes(keyId)) {
    throw new Conflict(
      `Key ${keyId} is in the key file: no value that it sealed is lost. To replace it, run: breezeway key rotate, then breezeway key prune`,
    );
  }
  if (!used.includes(keyId) && !counts.has(keyId)) {
    throw new NotFound(`Nothing in this store is sealed with key ${keyId}. See: breezeway key list`);
  }
  if (!isForced) refuseHeld(holdersOf(nodes, keyId), keyId);
  const current = currentKey();
  const lost: LostValue[] = [];
  for (let after: SealedLocation | undefined; ; ) {
    const page = await store.transaction(async (tx) => {
      const values = await tx.sealedValues.after(after, valuesAtOnce);
      const dropped: LostValue[] = [];
      for (const { location, sealed } of values) {
        if (!sealed.includes(`.${keyId}.`)) continue;
        const value = await dropValue(tx, location);
        if (value) dropped.push(value);
      }
      return { last: values.at(-1)?.location, dropped };
    });
    lost.push(...page.dropped);
    if (!page.last) break;
    after = page.last;
  }
  await store.transaction(async (tx) => {
    await changeUsedKeys(tx, (used) => {
      const left = used.filter((each) => each !== keyId);
      return left.length > 0 ? left : [current];
    });
    await retireKeys(tx, [keyId]);
    if ((await tx.settings.get("sealing_key_next")) === keyId) await tx.settings.set("sealing_key_next", "");
  });
  return lost;
}
