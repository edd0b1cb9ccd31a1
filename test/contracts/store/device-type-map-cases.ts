import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId } from "../../../src/model/ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

/** Trait maps, and the devices whose types have one. */
export function deviceTypeMapCases(harness: StoreHarness): void {
  it("keeps the trait map of a tenant's device type, and a later time for every change", () =>
    onStore(harness, async (store) => {
      const { tenantId } = await makeHome(store);
      const put = (map: string) => store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", map));
      const read = () => store.read((tx) => tx.deviceTypeMaps.byName(tenantId, "lamp"));
      await put('{"a":1}');
      const first = (await read())!;
      assert.deepEqual(plain(first), { ...first, tenantId, typeName: "lamp", map: '{"a":1}' });
      await put('{"a":2}');
      const second = (await read())!;
      assert.equal(second.map, '{"a":2}');
      assert.ok(second.changedMs > first.changedMs);
      await store.read(async (tx) => {
        assert.deepEqual(plain((await tx.deviceTypeMaps.find(tenantId, second.typeId))!), plain(second));
        assert.deepEqual((await tx.deviceTypeMaps.ofTenant(tenantId)).map(plain), [plain(second)]);
        assert.deepEqual(await tx.deviceTypeMaps.versionsOf(tenantId), new Map([[second.typeId, second.changedMs]]));
        assert.deepEqual(await tx.deviceTypeMaps.versionsOf((tenantId + 1) as TenantId), new Map());
        assert.equal(await tx.deviceTypeMaps.byName((tenantId + 1) as TenantId, "lamp"), undefined);
        assert.equal(await tx.deviceTypeMaps.byName(tenantId, "a\0b"), undefined);
      });
      assert.equal(await store.transaction((tx) => tx.deviceTypeMaps.lock(tenantId)), 1);
      assert.equal(await store.transaction((tx) => tx.deviceTypeMaps.remove(tenantId, "lamp")), true);
      assert.equal(await store.transaction((tx) => tx.deviceTypeMaps.remove(tenantId, "lamp")), false);
      assert.equal(await read(), undefined);
    }));

  it("tells with the lock of a device whether its type has a map", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId, devices } = await makeHome(store);
      const changedMs = async () => {
        const [locked] = await store.transaction((tx) => tx.devices.lock(userId, devices));
        assert.equal(locked!.tenantId, tenantId);
        return locked!.mapChangedMs;
      };
      assert.equal(await changedMs(), null);
      await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", "{}"));
      const row = await store.read((tx) => tx.deviceTypeMaps.byName(tenantId, "lamp"));
      assert.equal(await changedMs(), row!.changedMs);
    }));

  it("notes the devices whose alarms sound, and lists at most twenty of one user", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId, devices } = await makeHome(store, { devices: 22 });
      const bo = await makeHome(store, { name: "Bo" });
      const sounding = async (filter: object = {}) =>
        (await store.read((tx) => tx.mappedDevices.sounding(filter, 50))).map(({ id }) => id);
      await store.transaction(async (tx) => {
        for (const id of devices) for (const _ of [1, 2]) await tx.mappedDevices.setSounding(userId, id, true);
        await tx.mappedDevices.setSounding(bo.userId, bo.devices[0]!, true);
      });
      assert.deepEqual(await sounding(), [], "their type has no map");
      await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", "{}"));
      assert.deepEqual(await sounding(), [...devices.slice(0, 20), bo.devices[0]]);
      assert.deepEqual(await sounding({ userId: bo.userId }), bo.devices);
      assert.deepEqual(
        [(await sounding({ tenantIds: [tenantId] })).length, await sounding({ tenantIds: [] })],
        [21, []],
      );
      await store.transaction((tx) => tx.mappedDevices.setSounding(bo.userId, bo.devices[0]!, false));
      assert.deepEqual(await sounding({ userId: bo.userId }), []);
    }));

  it("lists the devices of types with a map, and the named attributes of several devices at once", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId, devices } = await makeHome(store, { devices: 3 });
      const [one, two, three] = devices as [never, never, never];
      const neighbour = await makeHome(store, { name: "Ben" });
      const user = { kind: "user", userId } as const;
      const tenant = { kind: "enterprise", tenantId } as const;
      await store.transaction(async (tx) => {
        await tx.devices.add({ userId, typeName: "plug", name: "plug", isVirtual: false });
        await tx.deviceTypeMaps.put(tenantId, "lamp", "{}");
        await tx.devices.rename(userId, three, { name: "lamp 3", room: "Hall" });
        for (const id of devices) {
          await tx.attributes.write(userId, id, 5, [
            { key: "power", value: "on" },
            { key: "level", value: "7" },
          ]);
        }
      });
      const { typeId } = (await store.read((tx) => tx.deviceTypeMaps.byName(tenantId, "lamp")))!;
      await store.read(async (tx) => {
        const page = async (...input: Parameters<typeof tx.mappedDevices.page>) =>
          (await tx.mappedDevices.page(...input)).map(({ id }) => id);
        assert.deepEqual(await page(user, { afterId: 0, typeIds: [typeId] }, 2), [one, two]);
        assert.deepEqual(await page(user, { afterId: two, typeIds: [typeId, typeId + 1] }, 2), [three]);
        assert.deepEqual(await page(tenant, { afterId: two, typeIds: [typeId] }, 9), [three, ...neighbour.devices]);
        assert.deepEqual(await page(tenant, { afterId: 0, typeIds: [] }, 9), []);
        for (const types of [[typeId], [typeId, typeId + 1]]) {
          assert.deepEqual(await page(user, { afterId: 0, typeIds: types, room: "Hall" }, 9), [three]);
          assert.deepEqual(await page(user, { afterId: three, typeIds: types, room: "Hall" }, 9), []);
        }
        assert.deepEqual(await page(user, { afterId: 0, typeIds: [typeId], room: "\0" }, 9), []);
        const some = async (...ids: never[]) => (await tx.mappedDevices.some(userId, ids)).map(({ id }) => id);
        assert.deepEqual(await some(three, one, 999 as never, neighbour.devices[0] as never), [one, three]);
        assert.deepEqual(await some(two), [two]);
        assert.deepEqual(await some(), []);
        assert.equal((await tx.mappedDevices.within(tenant, one))!.name, "lamp 1");
        assert.equal(await tx.mappedDevices.within({ kind: "user", userId: neighbour.userId }, one), undefined);
        const rows = await tx.mappedDevices.within(user, one);
        assert.equal(rows!.room, null);
        const attributes = await tx.mappedDevices.attributes(
          [
            { userId, id: one },
            { userId, id: three },
          ],
          ["power", "colour", "a\0"],
        );
        assert.deepEqual(
          attributes.map(plain).toSorted((a, b) => a.deviceId - b.deviceId),
          [one, three].map((deviceId) => ({ deviceId, name: "power", value: "on", timeMs: 5 })),
        );
      });
    }));

  it("removes the maps with their tenant", () =>
    onStore(harness, async (store) => {
      const tenantId = await store.transaction((tx) => tx.tenants.add({ name: "Acme" }));
      await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId!, "lamp", "{}"));
      await store.transaction((tx) => tx.deviceTypeWork.beginMissing());
      await store.transaction((tx) => tx.tenants.remove(tenantId!));
      assert.deepEqual(await store.read((tx) => tx.deviceTypeMaps.ofTenant(tenantId!)), []);
      assert.deepEqual(await store.read((tx) => tx.deviceTypeWork.due(Number.MAX_SAFE_INTEGER, 9)), []);
    }));
}
