import { existsSync } from "node:fs";
import { Conflict } from "../../model/errors.ts";
import type { Store, Transaction } from "../seam.ts";
import type { NodeKeys } from "../tables/nodes.ts";
import type { SealedPlace } from "../tables/sealed-values.ts";
import { dropKey, type LostValue } from "./key-drop.ts";
import { freshKey, keysFromFile, readKeyFile, replaceKeys } from "./key-file.ts";
import {
  living,
  nodesSealingWithout,
  nodesWithout,
  refuseSealing,
  refuseUnknown,
  refuseWithout,
  unknownNodes,
} from "./key-nodes.ts";
import { keyIdOf, type Sealing } from "./sealing.ts";
import { changeUsedKeys, retiredKeys, retireKeys, usedKeys, WrongKey } from "./used-keys.ts";

export interface KeysParts {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly file: string;
  /** What a value that lies there was sealed for. */
  readonly sealedFor: (place: SealedPlace) => string;
  /** Gives up a value that can't be opened any more, in the transaction; answers what was lost. */
  readonly giveUp: (tx: Transaction, place: SealedPlace) => Promise<LostValue | undefined>;
  /** Told after `giveUp`: a link that this process follows has lost its token. */
  readonly gaveUp: (lost: readonly LostValue[]) => Promise<void>;
  readonly pause: (ms: number) => Promise<void>;
}

/** How a key stands. Its id is a digest and reveals nothing about the key. */
export interface KeyStanding {
  readonly keyId: string;
  /**
   * `current` seals. `next` and `unused` open, and nothing was sealed with them yet: `next` is what a rotation turns to.
   * `old` still opens. `missing` is not in the key file, and what is sealed with it can't be opened.
   */
  readonly role: "current" | "next" | "unused" | "old" | "missing";
  /** How many values in the store are sealed with it. */
  readonly values: number;
  /** How many nodes seal with it, where several can. */
  readonly nodes?: number;
}

export interface Rotation {
  readonly keyId: string;
  readonly resealed: number;
  /** Nodes that still seal with another key: the rotation is over when there are none. */
  readonly behind: readonly string[];
}

/** The keys that tokens and secrets are sealed with, and how one takes another's place while the service runs. */
export interface Keys {
  list(): Promise<readonly KeyStanding[]>;
  /** Makes the key that the next rotation turns to. Until then it opens and doesn't seal, so that nodes can learn it. */
  add(): Promise<string>;
  /** Seals everything anew, a few values at a time; one that was interrupted goes on where it was. */
  rotate(tell: (done: number, total: number) => void, isForced: boolean): Promise<Rotation>;
  /** Takes keys out of the file that nothing is sealed with and that no node seals with; answers their ids. */
  prune(isForced: boolean): Promise<readonly string[]>;
  /** Gives up everything that a lost key sealed, so that the service can start without the key. */
  drop(keyId: string, isForced: boolean): Promise<readonly LostValue[]>;
}

const nextKey = "sealing_key_next";
/** Few enough that nobody waits for it. */
const valuesAtOnce = 100;
/** A node says within two seconds that its key file has changed. */
const waitForNodes = { everyMs: 250, times: 20 };

export function keysOn(parts: KeysParts): Keys {
  const { store, sealing, file, sealedFor, giveUp, gaveUp, pause } = parts;
  const fileKeys = (): readonly Uint8Array[] => (existsSync(file) ? readKeyFile(file) : []);
  const standing = () =>
    store.read(async (tx) => ({
      used: await usedKeys(tx),
      retired: await retiredKeys(tx),
      next: (await tx.settings.get(nextKey)) || undefined,
      counts: await tx.sealedValues.countByKey(),
      nodes: await tx.nodes.keys(),
    }));

  /** The nodes of that kind, as soon as there are none or after some seconds: what was just copied is read by then. */
  async function nodesLeft(find: (nodes: readonly NodeKeys[]) => readonly NodeKeys[]): Promise<readonly NodeKeys[]> {
    for (let time = 1; ; time++) {
      const found = find(await store.read((tx) => tx.nodes.keys()));
      if (found.length === 0 || time === waitForNodes.times) return found;
      await pause(waitForNodes.everyMs);
    }
  }

  async function add(): Promise<string> {
    const { next } = await standing();
    const keys = readKeyFile(file);
    if (next !== undefined && keys.some((key) => keyIdOf(key) === next)) return next;
    const key = freshKey();
    // The file first: if this stops in between, the store must not name a key that is in no file.
    replaceKeys(file, [...keys, key]);
    await store.transaction((tx) => tx.settings.set(nextKey, keyIdOf(key)));
    return keyIdOf(key);
  }

  /** The key to turn to: of a rotation that isn't over, of one that was prepared, or a new one. */
  async function target(): Promise<string> {
    const { used, retired, next, counts } = await standing();
    const held = readKeyFile(file).map(keyIdOf);
    const lost = [...counts].filter(([keyId]) => !held.includes(keyId));
    if (lost.length > 0) {
      const values = lost.reduce((sum, [, count]) => sum + count, 0);
      throw new WrongKey(
        file,
        held,
        lost.map(([keyId]) => keyId),
        values,
      );
    }
    // A key that this store hasn't met was put first by hand: this is how a file that is read-only here is changed.
    if (!used.includes(held[0]!) && !retired.includes(held[0]!)) return held[0]!;
    const isUnfinished = used.length > 1 || [...counts.keys()].some((keyId) => keyId !== used[0]);
    if (isUnfinished) return used[0]!;
    if (next !== undefined) return next;
    if (!store.isShared) return add();
    // Until the old key is pruned, a rotation may be repeated, for values that other nodes have sealed meanwhile.
    if (held.length > 1) return used[0]!;
    throw new Conflict(
      "The other nodes must know the new key first. Run: breezeway key add, copy the key file to all nodes, then rotate.",
    );
  }

  /** From here on it seals: first the store knows that it may be needed, then the file puts it first. */
  async function turnTo(keyId: string): Promise<void> {
    const keys = readKeyFile(file);
    const chosen = keys.find((key) => keyIdOf(key) === keyId);
    if (!chosen) throw new WrongKey(file, keys.map(keyIdOf), [keyId]);
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

  async function resealAll(keyId: string, tell: (done: number, total: number) => void): Promise<number> {
    let resealed = 0;
    for (;;) {
      const { counts } = await standing();
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (total === (counts.get(keyId) ?? 0)) return resealed;
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
  }

  return {
    async list() {
      const { used, retired, next, counts, nodes } = await standing();
      const held = fileKeys().map(keyIdOf);
      const isKnown = (keyId: string) => used.includes(keyId) || retired.includes(keyId) || counts.has(keyId);
      const missing = [...new Set([...used, ...counts.keys()])].filter((keyId) => !held.includes(keyId));
      const roleOf = (keyId: string, at: number): KeyStanding["role"] => {
        if (!held.includes(keyId)) return "missing";
        if (at === 0) return "current";
        if (keyId === next) return "next";
        return isKnown(keyId) ? "old" : "unused";
      };
      return [...held, ...missing].map((keyId, at) => ({
        keyId,
        role: roleOf(keyId, at),
        values: counts.get(keyId) ?? 0,
        ...(store.isShared && { nodes: nodes.filter(({ keyIds }) => keyIds?.[0] === keyId).length }),
      }));
    },
    add,
    async rotate(tell, isForced) {
      const keyId = await target();
      if (!isForced) refuseWithout(await nodesLeft((nodes) => nodesWithout(nodes, keyId)), keyId);
      // Repeated after the file was copied: what was copied a moment ago is read by then.
      const isRepeated = (await standing()).used[0] === keyId;
      if (isRepeated && !isForced) await nodesLeft((nodes) => living(nodesSealingWithout(nodes, keyId)));
      await turnTo(keyId);
      const resealed = await resealAll(keyId, tell);
      const behind = nodesSealingWithout((await standing()).nodes, keyId);
      const isOver = behind.length === 0 || isForced;
      await store.transaction(async (tx) => {
        const replaced = (await usedKeys(tx)).filter((one) => one !== keyId);
        await retireKeys(tx, replaced);
        if (isOver) await changeUsedKeys(tx, () => [keyId]);
      });
      return { keyId, resealed, behind: behind.map(({ id }) => id) };
    },
    async prune(isForced) {
      const { used, next, counts } = await standing();
      const keys = readKeyFile(file);
      if (used.length > 1 || keyIdOf(keys[0]) !== used[0]) {
        throw new Conflict("A rotation isn't over yet. Finish it with: breezeway key rotate");
      }
      const isNeeded = (keyId: string) => used.includes(keyId) || keyId === next || counts.has(keyId);
      const kept = keys.filter((key, at) => at === 0 || isNeeded(keyIdOf(key)));
      if (kept.length === keys.length) return [];
      if (!isForced) {
        refuseSealing(await nodesLeft((nodes) => nodesSealingWithout(nodes, used[0]!)), used[0]!);
        refuseUnknown(unknownNodes((await standing()).nodes));
      }
      replaceKeys(file, kept);
      return keys.filter((key) => !kept.includes(key)).map(keyIdOf);
    },
    async drop(keyId, isForced) {
      const makeKey = () => keyIdOf(keysFromFile(file)[0]);
      const lost = await dropKey({ store, giveUp, held: fileKeys().map(keyIdOf), makeKey }, keyId, isForced);
      await gaveUp(lost);
      return lost;
    },
  };
}
