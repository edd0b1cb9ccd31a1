import { Conflict, NotFound } from "../../model/errors.ts";
import type { Store, Transaction } from "../seam.ts";
import type { SealedPlace } from "../tables/sealed-values.ts";
import { holdersOf, refuseHeld } from "./key-nodes.ts";
import { changeUsedKeys, retireKeys, usedKeys } from "./used-keys.ts";

/** What was lost with a key. */
export type LostValue =
  | { readonly kind: "link"; readonly userId: number; readonly deviceId: number; readonly ecosystem: string }
  | { readonly kind: "webhook"; readonly id: string; readonly ownerId: number; readonly clientId: string };

export interface DropParts {
  readonly store: Store;
  readonly giveUp: (tx: Transaction, place: SealedPlace) => Promise<LostValue | undefined>;
  /** The ids of the keys in the key file; none when there is no file. */
  readonly held: readonly string[];
  /** The id of the key that seals from now on; makes the key file where there is none. */
  readonly makeKey: () => string;
}

const valuesAtOnce = 100;

/**
 * Gives up everything that a lost key sealed. Each page of values is a transaction of its own; one that was interrupted
 * goes on when it is run again. The key that the store asks for is changed last.
 */
export async function dropKey({ store, giveUp, held, makeKey }: DropParts, keyId: string, isForced: boolean) {
  const { used, counts, nodes } = await store.read(async (tx) => ({
    used: await usedKeys(tx),
    counts: await tx.sealedValues.countByKey(),
    nodes: await tx.nodes.keys(),
  }));
  if (held.includes(keyId)) {
    throw new Conflict(
      `Key ${keyId} is in the key file: nothing that it sealed is lost. To replace it, run: breezeway key rotate, then breezeway key prune`,
    );
  }
  if (!used.includes(keyId) && !counts.has(keyId)) {
    throw new NotFound(`Nothing in this store is sealed with key ${keyId}. See: breezeway key list`);
  }
  if (!isForced) refuseHeld(holdersOf(nodes, keyId), keyId);
  const current = makeKey();
  const lost: LostValue[] = [];
  for (let at: SealedPlace | undefined; ; ) {
    const page = await store.transaction(async (tx) => {
      const values = await tx.sealedValues.after(at, valuesAtOnce);
      const found: LostValue[] = [];
      for (const { place, sealed } of values) {
        if (!sealed.includes(`.${keyId}.`)) continue;
        const value = await giveUp(tx, place);
        if (value) found.push(value);
      }
      return { last: values.at(-1)?.place, found };
    });
    lost.push(...page.found);
    if (!page.last) break;
    at = page.last;
  }
  await store.transaction(async (tx) => {
    await changeUsedKeys(tx, (before) => {
      const left = before.filter((one) => one !== keyId);
      return left.length > 0 ? left : [current];
    });
    await retireKeys(tx, [keyId]);
    if ((await tx.settings.get("sealing_key_next")) === keyId) await tx.settings.set("sealing_key_next", "");
  });
  return lost;
}
