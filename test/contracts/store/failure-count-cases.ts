import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { plain } from "./home.ts";

const resetAfter = { afterLastMs: 60_000 };

export function failureCountCases(harness: StoreHarness): void {
  it("are counted by key, on the store's clock, until they are reset", () =>
    onStore(harness, async (store, database) => {
      const add = (key: string) => store.transaction((tx) => tx.failureCounts.add(key, resetAfter));
      assert.equal(await failuresOf(store, "a"), undefined);
      for (const key of ["a", "a", "b"]) await add(key);
      await database.jumpClock(30_000);
      const found = await store.read((tx) => tx.failureCounts.find("a"));
      assert.equal(found?.failures, 2);
      assert.ok(found.sinceFirstMs >= 30_000 && found.sinceLastMs >= 30_000, JSON.stringify(plain(found)));
      assert.ok(found.sinceFirstMs >= found.sinceLastMs);
      await store.transaction((tx) => tx.failureCounts.remove("a"));
      assert.deepEqual([await failuresOf(store, "a"), await failuresOf(store, "b")], [undefined, 1]);
    }));

  it("restart when the last one, or the first one, was too long ago", () =>
    onStore(harness, async (store, database) => {
      const add = (key: string, after: object) => store.transaction((tx) => tx.failureCounts.add(key, after));
      const both = async () => {
        await add("by its last", resetAfter);
        await add("by its first", { afterFirstMs: 60_000 });
      };
      await both();
      await database.jumpClock(40_000);
      await both();
      assert.deepEqual([await failuresOf(store, "by its last"), await failuresOf(store, "by its first")], [2, 2]);
      await database.jumpClock(40_000);
      await both();
      assert.deepEqual([await failuresOf(store, "by its last"), await failuresOf(store, "by its first")], [3, 1]);
      await database.jumpClock(60_000);
      await both();
      assert.deepEqual([await failuresOf(store, "by its last"), await failuresOf(store, "by its first")], [1, 1]);
    }));

  it("are all counted when they happen at the same time", () =>
    onStore(harness, async (store) => {
      const add = () => store.transaction((tx) => tx.failureCounts.add("a", resetAfter));
      await Promise.all(Array.from({ length: 20 }, add));
      assert.equal(await failuresOf(store, "a"), 20);
    }));

  it("are removed by the sweep after a quiet time", () =>
    onStore(harness, async (store, database) => {
      await store.transaction((tx) => tx.failureCounts.add("old", resetAfter));
      await database.jumpClock(60_000);
      await store.transaction((tx) => tx.failureCounts.add("new", resetAfter));
      assert.equal(await store.transaction((tx) => tx.failureCounts.removeQuiet(60_000)), 1);
      assert.deepEqual([await failuresOf(store, "old"), await failuresOf(store, "new")], [undefined, 1]);
    }));
}

async function failuresOf(store: OpenStore, key: string): Promise<number | undefined> {
  return (await store.read((tx) => tx.failureCounts.find(key)))?.failures;
}
