import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId } from "../../../src/model/ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

/** The counts that limits are checked with, and the names that a sweep removes. */
export function deviceCountCases(harness: StoreHarness): void {
  it("counts the devices of a user without virtual ones, and all devices of a tenant", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store, { devices: 3 }), await makeHome(store, { name: "Bob" })];
      const { userId, tenantId } = ada;
      const account = { userId, typeName: "EcosystemAccount", name: "account", isVirtual: true };
      await store.transaction((tx) => tx.devices.add(account));
      await store.read(async (tx) => {
        assert.deepEqual([await tx.devices.countOwn(userId, 9), await tx.devices.countOwn(userId, 2)], [3, 2]);
        assert.equal(await tx.devices.countOwn(bob.userId, 9), 1);
        assert.equal(await tx.devices.countInTenant(tenantId), 5);
        assert.equal(await tx.devices.countInTenant(999 as TenantId), 0);
      });
    }));

  it("counts the types that a tenant's clients have named, each type for the first tenant", () =>
    onStore(harness, async (store) => {
      const { tenantId } = await makeHome(store);
      const other = (tenantId + 1) as TenantId;
      await store.transaction(async (tx) => {
        const valve = await tx.devices.addType("Valve", tenantId);
        assert.equal(await tx.devices.addType("Valve", other), valve);
        await tx.devices.addType("Pump", tenantId);
        assert.equal(await tx.devices.findType("Valve"), valve);
        assert.deepEqual([await tx.devices.countTypes(tenantId), await tx.devices.countTypes(other)], [2, 0]);
      });
    }));

  it("counts the names of a device up to 9,999, and keeps no count of more", () =>
    onStore(harness, async (store, database) => {
      const { userId, devices } = await makeHome(store);
      const lamp = devices[0]!;
      await database.sql(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
         INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
         SELECT ${userId}, ${lamp}, -1, CAST(10000 + i AS TEXT), 'x', 0 FROM n`,
      );
      const count = () =>
        store.transaction(async ({ attributeUsage }) => ({
          ...(await attributeUsage.count(userId, lamp)),
          kept: (await attributeUsage.ofDevice(userId, lamp))?.names,
        }));
      assert.deepEqual(await count(), { names: 9_999, bytes: 59_994, isWhole: true, kept: 9_999 });
      await database.sql(
        `INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
         VALUES (${userId}, ${lamp}, -1, 'one more', '', 0)`,
      );
      assert.deepEqual(await count(), { names: 10_000, bytes: 60_002, isWhole: false, kept: 9_999 });
    }));

  it("removes names that were erased before a time, page by page, and tells the oldest erasure that stays", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const lamp = devices[0]!;
      const erased = (afterName: string, limit: number) =>
        store.transaction((tx) => tx.attributeUsage.removeErased(userId, lamp, { beforeMs: 10, afterName, limit }));
      await store.transaction(async (tx) => {
        for (const [key, value, timeMs] of [
          ["a", null, 9],
          ["b", "kept", 1],
          ["c", null, 12],
          ["d", null, 10],
          ["e", null, 1],
        ] as const) {
          await tx.attributes.write(userId, lamp, timeMs, [{ key, value }]);
        }
      });
      assert.deepEqual(plain(await erased("", 4)), { removed: 1, oldestMs: 10, last: "d" });
      assert.deepEqual(plain(await erased("d", 4)), { removed: 1, oldestMs: null, last: undefined });
      const left = await store.read((tx) => tx.attributes.all(userId, lamp));
      assert.deepEqual(left.map(({ key }) => key).sort(), ["b", "c", "d"]);
    }));
}
