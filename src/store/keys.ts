import { Conflict } from "../model/errors.ts";
import { freshKey, keysFromFile, replaceKeys } from "./key-file.ts";
import { keyIdOf, type Sealing } from "./sealing.ts";
import type { Store, Transaction } from "./seam.ts";
import type { SealedPlace } from "./tables/sealed-values.ts";
import { changeUsedKeys, usedKeys, WrongKey } from "./used-keys.ts";

export type KeyTables = Pick<Transaction, "settings" | "sealedValues">;

export interface KeysParts {
  readonly store: Store<KeyTables>;
  readonly sealing: Sealing;
  readonly file: string;
  /** What a value that lies there was sealed for. */
  readonly sealedFor: (place: SealedPlace) => string;
}

/** How a key of the key file stands; its name tells nothing of it. */
export interface KeyStanding {
  readonly keyId: string;
  /** `current` seals, `next` is known but not used yet, `old` still opens. */
  readonly role: "current" | "next" | "old";
  /** How many values in the store are sealed with it. */
  readonly values: number;
}

export interface Rotation {
  readonly keyId: string;
  readonly resealed: number;
}

/** The keys that tokens and secrets are sealed with, and how one takes another's place while the service runs. */
export interface Keys {
  list(): Promise<readonly KeyStanding[]>;
  /** Makes the key that the next rotation turns to. Until then it opens and doesn't seal, so that nodes can learn it. */
  add(): Promise<string>;
  /** Seals everything anew, a few values at a time; one that was interrupted goes on where it was. */
  rotate(tell: (done: number, total: number) => void): Promise<Rotation>;
  /** Takes keys that nothing is sealed with any more out of the file; answers their names. */
  prune(): Promise<readonly string[]>;
}

const nextKey = "sealing_key_next";
/** Few enough that nobody waits for it. */
const valuesAtOnce = 100;

export function keysOn({ store, sealing, file, sealedFor }: KeysParts): Keys {
  const standing = () =>
    store.read(async (tx) => ({
      used: await usedKeys(tx),
      next: (await tx.settings.get(nextKey)) || undefined,
      counts: await tx.sealedValues.countByKey(),
    }));

  async function add(): Promise<string> {
    const known = (await standing()).next;
    if (known !== undefined && sealing.keyIds.includes(known)) return known;
    const key = freshKey();
    // It is in the file before the store knows its name: a name without its key would be a locked door.
    replaceKeys(file, [...keysFromFile(file), key]);
    await store.transaction((tx) => tx.settings.set(nextKey, keyIdOf(key)));
    return keyIdOf(key);
  }

  /** The key to turn to: of a rotation that isn't over, of one that was prepared, or a new one. */
  async function target(): Promise<string> {
    const { used, next, counts } = await standing();
    const isUnfinished = used.length > 1 || [...counts.keys()].some((keyId) => keyId !== used[0]);
    if (isUnfinished) return used[0]!;
    if (next !== undefined) return next;
    if (!store.isShared) return add();
    throw new Conflict(
      "The other nodes must know the new key first. Run: breezeway key add, copy the key file to all nodes, then rotate.",
    );
  }

  /** From here on it seals: first the store knows that it may be needed, then the file puts it first. */
  async function turnTo(keyId: string): Promise<void> {
    const keys = keysFromFile(file);
    const chosen = keys.find((key) => keyIdOf(key) === keyId);
    if (!chosen) throw new WrongKey(file, sealing.keyIds, [keyId]);
    await store.transaction(async (tx) => {
      await changeUsedKeys(tx, (used) => [keyId, ...used.filter((one) => one !== keyId)]);
      await tx.settings.set(nextKey, "");
    });
    if (keys[0] !== chosen) replaceKeys(file, [chosen, ...keys.filter((key) => key !== chosen)]);
  }

  /** One page of values, in a transaction of its own. */
  function resealPage(keyId: string, after: SealedPlace | undefined) {
    return store.transaction(async (tx) => {
      const page = await tx.sealedValues.after(after, valuesAtOnce);
      const others = page.filter(({ sealed }) => !sealed.includes(`.${keyId}.`));
      for (const value of others) {
        const place = sealedFor(value.place);
        await tx.sealedValues.replace(value, sealing.seal(sealing.open(value.sealed, place), place));
      }
      return { last: page.at(-1)?.place, seen: page.length, resealed: others.length };
    });
  }

  return {
    async list() {
      const { next, counts } = await standing();
      return sealing.keyIds.map((keyId, at) => ({
        keyId,
        role: at === 0 ? "current" : keyId === next ? "next" : "old",
        values: counts.get(keyId) ?? 0,
      }));
    },
    add,
    async rotate(tell) {
      const keyId = await target();
      await turnTo(keyId);
      let resealed = 0;
      for (;;) {
        const { counts } = await standing();
        const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
        if (total === (counts.get(keyId) ?? 0)) break;
        let done = 0;
        for (let at: SealedPlace | undefined; ; ) {
          const page = await resealPage(keyId, at);
          done += page.seen;
          resealed += page.resealed;
          tell(done, total);
          if (!page.last) break;
          at = page.last;
        }
      }
      await store.transaction((tx) => changeUsedKeys(tx, () => [keyId]));
      return { keyId, resealed };
    },
    async prune() {
      const { used, next, counts } = await standing();
      if (used.length > 1) {
        throw new Conflict("A rotation isn't over yet. Finish it with: breezeway key rotate");
      }
      const keys = keysFromFile(file);
      const isNeeded = (keyId: string) => used.includes(keyId) || keyId === next || counts.has(keyId);
      const kept = keys.filter((key, at) => at === 0 || isNeeded(keyIdOf(key)));
      if (kept.length < keys.length) replaceKeys(file, kept);
      return keys.filter((key) => !kept.includes(key)).map(keyIdOf);
    },
  };
}
