import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId, UserId } from "../../../src/model/ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, node, plain } from "./home.ts";

export function tableCases(harness: StoreHarness): void {
  it("keep tenants, and refuse a name or an id that is taken", () =>
    onStore(harness, async (store) => {
      const ids = await store.transaction(async (tx) => [
        await tx.tenants.add({ name: "first" }),
        await tx.tenants.add({ name: "chosen", id: 700 as TenantId }),
        await tx.tenants.add({ name: "after the chosen one" }),
        await tx.tenants.add({ name: "first" }),
        await tx.tenants.add({ name: "other name", id: 700 as TenantId }),
      ]);
      assert.deepEqual(ids, [1, 700, 701, undefined, undefined]);
      await store.read(async (tx) => {
        const list = await tx.tenants.list();
        assert.deepEqual(
          list.map(({ name }) => name),
          ["first", "chosen", "after the chosen one"],
        );
        assert.ok(list.every(({ createdMs }) => Number.isSafeInteger(createdMs) && createdMs > 0));
        assert.deepEqual(await tx.tenants.byId(700 as TenantId), list[1]);
        assert.deepEqual(await tx.tenants.byName("first"), list[0]);
        assert.equal(await tx.tenants.byName("First"), undefined);
        assert.equal(await tx.tenants.byId(2 as TenantId), undefined);
      });
    }));

  it("give each of many tenants that are added at once an id of its own", () =>
    onStore(harness, async (store) => {
      const names = Array.from({ length: 16 }, (_, i) => `tenant ${i}`);
      const ids = await Promise.all(names.map((name) => store.transaction((tx) => tx.tenants.add({ name }))));
      assert.equal(new Set(ids.filter((id) => id !== undefined)).size, names.length);
    }));

  it("keep users, one of a name in each tenant", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store, { name: "Ada" });
      const other = await store.transaction((tx) => tx.tenants.add({ name: "elsewhere" }));
      const user = { name: "Ada", passwordHash: "hash", isAdmin: true };
      const [again, elsewhere] = await store.transaction(async (tx) => [
        await tx.users.add({ ...user, tenantId }),
        await tx.users.add({ ...user, tenantId: other! }),
      ]);
      assert.equal(again, undefined);
      await store.transaction((tx) => tx.users.setPasswordHash(userId, "new hash"));
      await store.read(async (tx) => {
        const ada = await tx.users.byId(userId);
        assert.deepEqual(await tx.users.byName(tenantId, "Ada"), ada);
        assert.deepEqual(
          { ...ada, createdMs: 0 },
          { ...user, id: userId, tenantId, passwordHash: "new hash", isAdmin: false, createdMs: 0 },
        );
        assert.equal((await tx.users.byId(elsewhere!))?.isAdmin, true);
        assert.equal(await tx.users.byName(tenantId, "Bob"), undefined);
      });
      const racing = await Promise.all(
        Array.from({ length: 8 }, () => store.transaction((tx) => tx.users.add({ ...user, tenantId, name: "Bob" }))),
      );
      assert.equal(racing.filter((id) => id !== undefined).length, 1);
      await store.transaction(async (tx) => {
        assert.ok((await tx.users.lock(userId))! > 1_600_000_000_000);
        assert.equal(await tx.users.lock(9_999 as UserId), undefined);
      });
    }));

  it("keep security tokens by their hash", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      await store.transaction(async (tx) => {
        for (const hash of ["a", "b", "c", "d"]) await tx.secTokens.add(hash, userId, 1_000);
        await tx.secTokens.renew("a", 5_000);
        await tx.secTokens.renew("a", 2_000);
      });
      assert.deepEqual(plain(await store.read((tx) => tx.secTokens.find("a"))), {
        userId,
        issuedMs: 1_000,
        usedMs: 5_000,
      });
      await assert.rejects(store.transaction((tx) => tx.secTokens.add("a", userId, 9_000)));
      await store.transaction(async (tx) => {
        assert.equal(await tx.secTokens.remove("b"), true);
        assert.equal(await tx.secTokens.remove("b"), false);
        assert.equal(await tx.secTokens.removeUnusedSince(4_000, 1_000), 2);
        assert.ok(await tx.secTokens.find("a"));
        await tx.secTokens.removeOfUser(userId);
        assert.equal(await tx.secTokens.find("a"), undefined);
      });
    }));

  it("keep the nodes that beat, by the store's clock", () =>
    onStore(harness, async (store, place) => {
      await store.transaction((tx) => tx.nodes.beat(node("early")));
      await place.jumpClock(10_000);
      await store.transaction((tx) => tx.nodes.beat(node("late")));
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(6_000)), ["late"]);
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(60_000)), ["early", "late"]);
      assert.equal(await store.transaction((tx) => tx.nodes.forget(6_000)), 1);
      await store.transaction((tx) => tx.nodes.leave(node("late")));
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(60_000)), []);
    }));

  it("keep the first value that anyone gave a setting", () =>
    onStore(harness, async (store) => {
      const racing = Array.from({ length: 8 }, (_, i) =>
        store.transaction((tx) => tx.settings.getOrKeep("key", `${i}`)),
      );
      const answers = new Set(await Promise.all(racing));
      assert.equal(answers.size, 1);
      assert.equal(await store.transaction((tx) => tx.settings.getOrKeep("key", "late")), [...answers][0]);
      assert.equal(await store.read((tx) => tx.settings.get("absent")), undefined);
    }));

  it("never give an id again, even when what had it is gone", () =>
    onStore(harness, async (store, place) => {
      const ada = await makeHome(store, { name: "Ada" });
      await place.sql("DELETE FROM devices");
      await place.sql("DELETE FROM users");
      const bob = await makeHome(store, { name: "Bob" });
      assert.ok(bob.userId > ada.userId && bob.devices[0]! > ada.devices[0]!);
    }));
}
