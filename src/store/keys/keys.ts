import { existsSync } from "node:fs";
import { Conflict } from "../../model/errors.ts";
import type { Store, Transaction } from "../seam.ts";
import type { NodeKeys } from "../tables/nodes.ts";
import type { SealedLocation, SealedValue } from "../tables/sealed-values.ts";
import { dropKey, type LostValue } from "./key-drop.ts";
import { keysFromFile, newKey, readKeyFile, replaceKeys } from "./key-file.ts";
import {
  liveNodes,
  liveNodesLacking,
  nodesSealingWithOther,
  nodesWithUnknownKeys,
  refuseLacking,
  refuseSealingWithOther,
  refuseUnknownKeys,
} from "./key-nodes.ts";
import { keyIdOf, type Sealing } from "./sealing.ts";
import { changeUsedKeys, retiredKeys, retireKeys, usedKeys, WrongKey } from "./used-keys.ts";

export interface KeysParts {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly file: string;
  /** The context that the value at this location is bound to. */
  readonly contextOf: (location: SealedLocation) => string;
  /** Drops one value whose key is missing. Returns it if the operator has to know about it. */
  readonly dropValue: (tx: Transaction, location: SealedLocation) => Promise<LostValue | undefined>;
  /** Called when the values of a key were dropped: links that this process follows may have lost their tokens. */
  readonly onDropped: (lost: readonly LostValue[]) => Promise<void>;
  readonly pause: (ms: number) => Promise<void>;
}

/** A key and what it is used for. Its id is a digest and reveals nothing about the key. */
export interface KeyStatus {
  readonly keyId: string;
  /**
   * `current`: the first key in the key file; it seals and opens. All other keys only open. `next`: the key of the next
   * rotation. `unused`: another key that the store has not used yet. `old`: the store has used it. `missing`: the store
   * needs it and the key file lacks it, so that values which are sealed with it can't be opened.
   */
  readonly role: "current" | "next" | "unused" | "old" | "missing";
  /** How many values in the store are sealed with it. */
  readonly values: number;
  /** How many nodes seal with it; only on PostgreSQL. */
  readonly nodes?: number;
}

export interface Rotation {
  readonly keyId: string;
  readonly resealed: number;
  /** Nodes that still seal with another key. The rotation is complete when there are none, or when it was forced. */
  readonly behind: readonly string[];
  /** Those of them without a heartbeat, with the seconds since the last one: they were killed, frozen or cut off. */
  readonly silent?: readonly { readonly node: string; readonly seconds: number }[];
}

/** Manages the keys that seal tokens and secrets, and their rotation while the service runs. */
export interface Keys {
  list(): Promise<readonly KeyStatus[]>;
  /** Adds the key of the next rotation to the key file. It seals nothing yet: the operator copies it to all nodes first. */
  add(): Promise<string>;
  /** Reseals all values in small transactions. An interrupted rotation continues when it is run again. */
  rotate(onProgress: (done: number, total: number) => void, isForced: boolean): Promise<Rotation>;
  /** Removes keys from the file that no value needs. Unless forced, all nodes must seal with the current key. Returns ids. */
  prune(isForced: boolean): Promise<readonly string[]>;
  /** Drops all values that are sealed with a missing key, so that the service can start without the key. */
  drop(keyId: string, isForced: boolean): Promise<readonly LostValue[]>;
}

const nextKeySetting = "sealing_key_next";
/** So few that no other transaction waits long. */
const valuesAtOnce = 100;
/** Five seconds in all. A node reports within two seconds that its key file has changed. */
const nodePolling = { everyMs: 250, times: 20 };

export function manageKeys(parts: KeysParts): Keys {
  const { store, sealing, file, contextOf, dropValue, onDropped, pause } = parts;
  const fileKeys = (): readonly Uint8Array[] => (existsSync(file) ? readKeyFile(file) : []);
  const keyState = () =>
    store.read(async (tx) => ({
      used: await usedKeys(tx),
      retired: await retiredKeys(tx),
      next: (await tx.settings.get(nextKeySetting)) || undefined,
      counts: await tx.sealedValues.countByKey(),
      nodes: await tx.nodes.keys(),
    }));

  /** Waits until `find` returns no nodes: a node may not have read its new key file yet. Returns those that are left. */
  async function waitUntilNone(
    find: (nodes: readonly NodeKeys[]) => readonly NodeKeys[],
  ): Promise<readonly NodeKeys[]> {
    for (let attempt = 1; ; attempt++) {
      const found = find(await store.read((tx) => tx.nodes.keys()));
      if (found.length === 0 || attempt === nodePolling.times) return found;
      await pause(nodePolling.everyMs);
    }
  }

  async function add(): Promise<string> {
    const { next } = await keyState();
    const keys = readKeyFile(file);
    if (next !== undefined && keys.some((key) => keyIdOf(key) === next)) return next;
    const key = newKey();
    // The file first: after a crash in between, the store must not name a key that is in no file.
    replaceKeys(file, [...keys, key]);
    await store.transaction((tx) => tx.settings.set(nextKeySetting, keyIdOf(key)));
    return keyIdOf(key);
  }

  /**
   * The key to rotate to, the first of these: a key that the operator put first in the file and that the store has not
   * used; the key of an unfinished rotation; the next key; on SQLite a new key; on PostgreSQL the current key again, while
   * the file holds others.
   */
  async function rotationTarget(): Promise<string> {
    const { used, retired, next, counts } = await keyState();
    const inFile = readKeyFile(file).map(keyIdOf);
    const missing = [...counts].filter(([keyId]) => !inFile.includes(keyId));
    if (missing.length > 0) {
      const values = missing.reduce((sum, [, count]) => sum + count, 0);
      throw new WrongKey(
        file,
        inFile,
        missing.map(([keyId]) => keyId),
        values,
      );
    }
    // The operator put this key first: this is how a read-only key file is rotated.
    if (!used.includes(inFile[0]!) && !retired.includes(inFile[0]!)) return inFile[0]!;
    const isUnfinished = used.length > 1 || [...counts.keys()].some((keyId) => keyId !== used[0]);
    if (isUnfinished) return used[0]!;
    if (next !== undefined) return next;
    if (!store.isShared) return add();
    // Until the old key is pruned, a rotation may be repeated: other nodes may have sealed values with it meanwhile.
    if (inFile.length > 1) return used[0]!;
    throw new Conflict(
      "The other nodes must know the new key first. Run: breezeway key add, copy the key file to all nodes, then rotate.",
    );
  }

  /** Makes this key the current one. The store lists it as used before the file puts it first. */
  async function activate(keyId: string): Promise<void> {
    const keys = readKeyFile(file);
    const chosen = keys.find((key) => keyIdOf(key) === keyId);
    if (!chosen) throw new WrongKey(file, keys.map(keyIdOf), [keyId]);
    await store.transaction(async (tx) => {
      await changeUsedKeys(tx, (used) => [keyId, ...used.filter((each) => each !== keyId)]);
      await tx.settings.set(nextKeySetting, "");
    });
    if (keys[0] !== chosen) replaceKeys(file, [chosen, ...keys.filter((key) => key !== chosen)]);
  }

  function opened({ sealed, location }: SealedValue, context: string): string {
    try {
      return sealing.open(sealed, context);
    } catch (error) {
      const owner = "userId" in location ? location.userId : location.ownerId;
      throw new Conflict(
        `The ${location.kind} of user or tenant ${owner} can't be opened with any key of the key file: it was changed, or its key is missing. Restore it, or remove what it belongs to. Then run breezeway key rotate again.`,
        { cause: error },
      );
    }
  }

  /** Reseals one page of values, in one transaction. */
  function resealPage(keyId: string, after: SealedLocation | undefined) {
    return store.transaction(async (tx) => {
      const page = await tx.sealedValues.after(after, valuesAtOnce);
      const others = page.filter(({ sealed }) => !sealed.includes(`.${keyId}.`));
      for (const value of others) {
        const context = contextOf(value.location);
        await tx.sealedValues.replace(value, sealing.seal(opened(value, context), context));
      }
      return { last: page.at(-1)?.location, seen: page.length, resealed: others.length };
    });
  }

  async function resealAll(keyId: string, onProgress: (done: number, total: number) => void): Promise<number> {
    let resealed = 0;
    for (;;) {
      const { counts } = await keyState();
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (total === (counts.get(keyId) ?? 0)) return resealed;
      let done = 0;
      for (let after: SealedLocation | undefined; ; ) {
        const page = await resealPage(keyId, after);
        done += page.seen;
        resealed += page.resealed;
        onProgress(done, total);
        if (!page.last) break;
        after = page.last;
      }
    }
  }

  return {
    async list() {
      const { used, retired, next, counts, nodes } = await keyState();
      const inFile = fileKeys().map(keyIdOf);
      const isKnown = (keyId: string) => used.includes(keyId) || retired.includes(keyId) || counts.has(keyId);
      const missing = [...new Set([...used, ...counts.keys()])].filter((keyId) => !inFile.includes(keyId));
      const roleOf = (keyId: string, at: number): KeyStatus["role"] => {
        if (!inFile.includes(keyId)) return "missing";
        if (at === 0) return "current";
        if (keyId === next) return "next";
        return isKnown(keyId) ? "old" : "unused";
      };
      return [...inFile, ...missing].map((keyId, at) => ({
        keyId,
        role: roleOf(keyId, at),
        values: counts.get(keyId) ?? 0,
        ...(store.isShared && { nodes: nodes.filter(({ keyIds }) => keyIds?.[0] === keyId).length }),
      }));
    },
    add,
    async rotate(onProgress, isForced) {
      const keyId = await rotationTarget();
      if (!isForced) refuseLacking(await waitUntilNone((nodes) => liveNodesLacking(nodes, keyId)), keyId);
      // The operator repeats the rotation after copying the key file: give the nodes time to read it.
      const isRepeated = (await keyState()).used[0] === keyId;
      if (isRepeated && !isForced) await waitUntilNone((nodes) => liveNodes(nodesSealingWithOther(nodes, keyId)));
      await activate(keyId);
      const resealed = await resealAll(keyId, onProgress);
      const behind = nodesSealingWithOther((await keyState()).nodes, keyId);
      const isOver = behind.length === 0 || isForced;
      await store.transaction(async (tx) => {
        const replaced = (await usedKeys(tx)).filter((each) => each !== keyId);
        await retireKeys(tx, replaced);
        if (isOver) await changeUsedKeys(tx, () => [keyId]);
      });
      const live = liveNodes(behind);
      const silent = behind
        .filter((node) => !live.includes(node))
        .map(({ id, silentMs }) => ({ node: id, seconds: Math.round(silentMs / 1_000) }));
      return { keyId, resealed, behind: behind.map(({ id }) => id), ...(silent.length > 0 && { silent }) };
    },
    async prune(isForced) {
      const { used, next, counts } = await keyState();
      const keys = readKeyFile(file);
      if (used.length > 1 || keyIdOf(keys[0]) !== used[0]) {
        throw new Conflict("A rotation isn't over yet. Finish it with: breezeway key rotate");
      }
      const isNeeded = (keyId: string) => used.includes(keyId) || keyId === next || counts.has(keyId);
      const kept = keys.filter((key, at) => at === 0 || isNeeded(keyIdOf(key)));
      if (kept.length === keys.length) return [];
      if (!isForced) {
        refuseSealingWithOther(await waitUntilNone((nodes) => nodesSealingWithOther(nodes, used[0]!)), used[0]!);
        refuseUnknownKeys(nodesWithUnknownKeys((await keyState()).nodes));
      }
      replaceKeys(file, kept);
      return keys.filter((key) => !kept.includes(key)).map(keyIdOf);
    },
    async drop(keyId, isForced) {
      const currentKey = () => keyIdOf(keysFromFile(file)[0]);
      const lost = await dropKey({ store, dropValue, inFile: fileKeys().map(keyIdOf), currentKey }, keyId, isForced);
      await onDropped(lost);
      return lost;
    },
  };
}
