import assert from "node:assert/strict";
import { it } from "node:test";
import { Conflict, StoreUnavailable } from "../../../src/model/errors.ts";
import type { Transaction } from "../../../src/store/seam.ts";
import { onDatabase, onStore, type StoreHarness } from "./harness.ts";
import { keep, kept, makeHome } from "./home.ts";

export function transactionCases(harness: StoreHarness): void {
  it("is rolled back when its body throws, and others of its group are not", () =>
    onStore(harness, async (store) => {
      const mistake = new Error("a mistake");
      const outcomes = await Promise.allSettled([
        store.transaction(keep("before")),
        store.transaction(async (tx) => {
          await keep("half done")(tx);
          throw mistake;
        }),
        store.transaction(keep("after")),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      assert.equal((outcomes[1] as PromiseRejectedResult).reason, mistake);
      assert.ok((await kept(store, "before")) && (await kept(store, "after")));
      assert.equal(await kept(store, "half done"), false);
    }));

  it("is rolled back when a statement fails, and the next transaction works", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      const twice = store.transaction(async (tx) => {
        await keep("half done")(tx);
        for (let i = 0; i < 2; i++) await tx.secTokens.add({ userId, hash: "same" }, 1);
      });
      await assert.rejects(twice);
      assert.equal(await kept(store, "half done"), false);
      await store.transaction(keep("next"));
      assert.ok(await kept(store, "next"));
    }));

  it("is never acknowledged and lost, even when its body ignores an error", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      const outcome = await store
        .transaction(async (tx) => {
          await keep("beside the error")(tx);
          await tx.secTokens.add({ userId, hash: "same" }, 1);
          await tx.secTokens.add({ userId, hash: "same" }, 1).catch(() => undefined);
        })
        .then(
          () => true,
          () => false,
        );
      assert.equal(await kept(store, "beside the error"), outcome);
    }));

  it("refuses a nested transaction or read, and so does a read", () =>
    onStore(harness, async (store) => {
      const insideAnother = /inside another/;
      await assert.rejects(
        store.transaction(() => store.transaction(keep("inner"))),
        insideAnother,
      );
      await assert.rejects(
        store.transaction(() => store.read((tx) => tx.settings.get("x"))),
        insideAnother,
      );
      await assert.rejects(
        store.read(() => store.transaction(keep("inner"))),
        insideAnother,
      );
      await store.transaction(keep("outer"));
      assert.equal(await kept(store, "inner"), false);
    }));

  it("refuses statements after its end", () =>
    onStore(harness, async (store) => {
      const lent: Transaction[] = [];
      await store.transaction(async (tx) => void lent.push(tx));
      await store.read(async (tx) => void lent.push(tx));
      const failed = store.transaction(async (tx) => {
        lent.push(tx);
        throw new Error("a mistake");
      });
      await assert.rejects(failed);
      assert.equal(lent.length, 3);
      for (const tx of lent) {
        await assert.rejects(tx.settings.getOrKeep("late", "kept"), /after it had ended/);
        await assert.rejects(tx.nodes.alive(1), /after it had ended/);
      }
      assert.equal(await kept(store, "late"), false);
    }));

  it("returns the result of its own body", () =>
    onStore(harness, async (store) => {
      const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => store.transaction(async () => i)));
      assert.deepEqual(
        answers,
        Array.from({ length: 40 }, (_, i) => i),
      );
    }));

  it("is visible to every read that begins after it was acknowledged", () =>
    onStore(harness, async (store) => {
      const lane = async (name: string) => {
        for (let i = 0; i < 25; i++) {
          await store.transaction(keep(`${name} ${i}`));
          assert.ok(await kept(store, `${name} ${i}`));
        }
      };
      await Promise.all(["a", "b", "c", "d"].map(lane));
    }));

  it("is the only way to write: a read refuses writes", () =>
    onStore(harness, async (store) => {
      await assert.rejects(store.read(keep("written by a reader")));
      assert.equal(await kept(store, "written by a reader"), false);
    }));

  it("is refused when the store is closed, and transactions in progress are completed", () =>
    onStore(harness, async (store, database) => {
      const onItsWay = store.transaction(keep("on its way"));
      await Promise.all([onItsWay, store.close()]);
      await store.close();
      await assert.rejects(store.transaction(keep("too late")), StoreUnavailable);
      await assert.rejects(
        store.read((tx) => tx.settings.get("x")),
        StoreUnavailable,
      );
      assert.ok(await kept(await database.open(), "on its way"));
    }));

  it("appears in the store's health", () =>
    onStore(harness, async (store) => {
      await store.transaction(keep("something"));
      const { kind, waiting, lastSyncMs } = await store.health();
      assert.deepEqual({ kind, waiting }, { kind: harness.kind, waiting: 0 });
      assert.ok(lastSyncMs > 0);
    }));

  it(
    harness.kind === "sqlite" ? "comes from one node alone: a second is refused" : "comes from any number of nodes",
    () =>
      onDatabase(harness, async (database) => {
        const store = await database.open();
        assert.equal(store.isShared, harness.kind === "postgres");
        if (store.isShared) {
          const second = await database.open();
          await second.transaction(keep("by the second"));
          assert.ok(await kept(store, "by the second"));
        } else {
          await assert.rejects(database.open(), Conflict);
          await store.transaction(keep("by the first"));
          await store.close();
          assert.ok(await kept(await database.open(), "by the first"));
        }
      }),
  );
}
