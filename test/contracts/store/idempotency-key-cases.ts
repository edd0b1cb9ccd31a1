import assert from "node:assert/strict";
import { it } from "node:test";
import type { OwnerId } from "../../../src/model/ids.ts";
import type { IdempotencyKey } from "../../../src/store/tables/idempotency-keys.ts";
import { onDatabase, onStore, type StoreHarness } from "./harness.ts";

const dayMs = 86_400_000;
const key: IdempotencyKey = { ownerId: 7 as OwnerId, hash: "k" };
const answer = (text: string) => ({ isSealed: false, text }) as const;

export function idempotencyKeyCases(harness: StoreHarness): void {
  it("are taken once, also by many concurrent transactions of all nodes", () =>
    onDatabase(harness, async (database) => {
      const nodes = [await database.open(), ...(harness.kind === "postgres" ? [await database.open()] : [])];
      const wanting = Array.from({ length: 8 }, (_, i) =>
        nodes[i % nodes.length]!.transaction((tx) => tx.idempotencyKeys.add(key, answer(`answer ${i}`), dayMs)),
      );
      const first = (await Promise.all(wanting)).indexOf(true);
      assert.equal((await Promise.all(wanting)).filter((isStored) => isStored).length, 1);
      const found = await nodes[0]!.read((tx) => tx.idempotencyKeys.find(key));
      assert.deepEqual(found, answer(`answer ${first}`));
    }));

  it("keep a sealed answer apart from a plain one, and say which it is", () =>
    onStore(harness, async (store) => {
      const other = { ...key, hash: "other" };
      const sealed = { isSealed: true, text: "v1.key.iv.body" } as const;
      await store.transaction(async (tx) => {
        await tx.idempotencyKeys.add(key, sealed, dayMs);
        await tx.idempotencyKeys.add(other, answer("plain"), dayMs);
      });
      assert.deepEqual(await store.read((tx) => tx.idempotencyKeys.find(key)), sealed);
      assert.deepEqual(await store.read((tx) => tx.idempotencyKeys.find(other)), answer("plain"));
    }));

  it("have groups whose answers are replaced once, also by many concurrent transactions of all nodes", () =>
    onDatabase(harness, async (database) => {
      const nodes = [await database.open(), ...(harness.kind === "postgres" ? [await database.open()] : [])];
      const group = { lines: 1, digest: "d", answers: "not yet" };
      await nodes[0]!.transaction((tx) => tx.batchGroups.add(key, 0, group, dayMs));
      const wanting = Array.from({ length: 8 }, (_, i) =>
        nodes[i % nodes.length]!.transaction(async (tx) => ({
          isReplaced: await tx.batchGroups.replaceAnswers(key, 0, "not yet", `answer ${i}`),
          answers: (await tx.batchGroups.find(key, 0))?.answers,
        })),
      );
      const found = await Promise.all(wanting);
      const first = found.findIndex(({ isReplaced }) => isReplaced);
      assert.equal(found.filter(({ isReplaced }) => isReplaced).length, 1);
      assert.ok(found.every(({ answers }) => answers === `answer ${first}`));
      const stored = await nodes[0]!.read((tx) => tx.batchGroups.find(key, 0));
      assert.deepEqual({ ...stored }, { ...group, answers: `answer ${first}` });
      assert.equal((await nodes[0]!.read((tx) => tx.batchGroups.usage(key.ownerId))).bytes, 158);
    }));

  it("are free again when the transaction that took them fails", () =>
    onStore(harness, async (store) => {
      const failed = store.transaction(async (tx) => {
        await tx.idempotencyKeys.add(key, answer("lost"), dayMs);
        throw new Error("the write failed");
      });
      await assert.rejects(failed, /the write failed/);
      assert.equal(await store.transaction((tx) => tx.idempotencyKeys.add(key, answer("kept"), dayMs)), true);
    }));

  it("expire on the store's clock: then they can be taken again, and a sweep removes them", () =>
    onStore(harness, async (store, database) => {
      const other = { ...key, hash: "other" };
      const keep = (one: IdempotencyKey, text: string) =>
        store.transaction((tx) => tx.idempotencyKeys.add(one, answer(text), dayMs));
      await keep(key, "first");
      await keep(other, "x");
      assert.deepEqual(await store.read((tx) => tx.idempotencyKeys.usage(key.ownerId)), { keys: 2, bytes: 206 });
      await database.jumpClock(dayMs);
      assert.equal(await store.read((tx) => tx.idempotencyKeys.find(key)), undefined);
      assert.equal(await keep(key, "second"), true);
      assert.equal(await store.transaction((tx) => tx.idempotencyKeys.removeExpired(10)), 1);
      assert.deepEqual(await store.read((tx) => tx.idempotencyKeys.find(key)), answer("second"));
      assert.equal(await store.read((tx) => tx.idempotencyKeys.find(other)), undefined);
    }));
}
