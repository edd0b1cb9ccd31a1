import assert from "node:assert/strict";
import { it } from "node:test";
import type { AccessScope } from "../../../src/model/access-scope.ts";
import type { DeviceId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { blindIntervalsKept } from "../../../src/store/tables/blind-intervals.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, linkOf, makeHome, node, plain } from "./home.ts";

export function deviceTableCases(harness: StoreHarness): void {
  it("store devices, each for one user", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada", devices: 2 });
      const bob = await makeHome(store, { name: "Bob", devices: 1 });
      const foreign = await elsewhere(store);
      const [first, second] = ada.devices as [DeviceId, DeviceId];
      await store.transaction(async (tx) => {
        await tx.devices.setLastTime(ada.userId, first, 2 ** 53 - 1);
        await tx.devices.setLastTime(bob.userId, second, 77);
        const locked = await tx.devices.lock(ada.userId, [second, ...bob.devices, first]);
        assert.deepEqual(
          locked.map(({ id }) => id),
          [first, second],
        );
        const ofTenant = await tx.devices.lockOfTenant(ada.tenantId, [...bob.devices, ...foreign.devices, first]);
        assert.deepEqual(
          ofTenant.map(({ id, userId }) => [id, userId]),
          [
            [first, ada.userId],
            [bob.devices[0], bob.userId],
          ],
        );
        assert.deepEqual(ofTenant[0], locked[0]);
      });
      await store.read(async (tx) => {
        const mine = await tx.devices.ofUser(ada.userId);
        assert.deepEqual(
          mine.map(({ id, name, lastTimeMs, isVirtual, typeName }) => ({ id, name, lastTimeMs, isVirtual, typeName })),
          [
            { id: first, name: "lamp 1", lastTimeMs: 2 ** 53 - 1, isVirtual: false, typeName: "lamp" },
            { id: second, name: "lamp 2", lastTimeMs: 0, isVirtual: false, typeName: "lamp" },
          ],
        );
        assert.deepEqual(await tx.devices.find(ada.userId, first), mine[0]);
        assert.equal(await tx.devices.find(bob.userId, first), undefined);
        assert.equal(mine[0]!.typeId, (await tx.devices.find(bob.userId, bob.devices[0]!))!.typeId);
        const versions = await tx.devices.versions([
          { userId: ada.userId, id: first },
          ...bob.devices.map((id) => ({ userId: bob.userId, id })),
          { userId: ada.userId, id: 9_999 as DeviceId },
        ]);
        assert.deepEqual(
          new Map(versions.map(({ id, lastTimeMs }) => [id, lastTimeMs])),
          new Map([
            [first, 2 ** 53 - 1],
            [bob.devices[0]!, 0],
          ]),
        );
        assert.deepEqual(await tx.devices.versions([]), []);
      });
    }));

  it("find a device for its user and its tenant only", () =>
    onStore(harness, async (store) => {
      const homes = [
        await makeHome(store, { name: "Ada" }),
        await makeHome(store, { name: "Bob" }),
        await elsewhere(store),
      ];
      const [ada, , carol] = homes as [Home, Home, Home];
      await store.read(async (tx) => {
        for (const { devices, userId, tenantId } of homes) {
          const id = devices[0]!;
          const row = await tx.devices.find(userId, id);
          assert.ok(row);
          const found = { ...row, tenantId, mapChangedMs: null, silentMs: null, describedMs: null, heardMs: null };
          const within = async (accessScope: AccessScope) => plain(await tx.devices.within(accessScope, id));
          for (const one of homes) {
            assert.deepEqual(await within(user(one.userId)), one.userId === userId ? found : undefined);
          }
          for (const one of [ada, carol]) {
            assert.deepEqual(await within(tenant(one.tenantId)), one.tenantId === tenantId ? found : undefined);
          }
        }
        for (const accessScope of [user(ada.userId), tenant(ada.tenantId), user(999), tenant(999)]) {
          assert.equal(await tx.devices.within(accessScope, 999 as DeviceId), undefined);
        }
      });
    }));

  it("list the devices of an access scope in pages, of one type or of all", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada", devices: 3 });
      const bob = await makeHome(store, { name: "Bob", devices: 2 });
      const carol = await elsewhere(store);
      const fan = await store.transaction((tx) =>
        tx.devices.add({ userId: ada.userId, typeName: "fan", name: "a fan", isVirtual: true }),
      );
      const page = async (accessScope: AccessScope, afterId: number, limit: number, typeName?: string) =>
        (await store.read((tx) => tx.devices.page(accessScope, { afterId, typeName }, limit))).map(({ id }) => id);
      const [first, second, third] = ada.devices as [DeviceId, DeviceId, DeviceId];
      assert.deepEqual(await page(user(ada.userId), 0, 10), [first, second, third, fan]);
      assert.deepEqual(await page(user(ada.userId), 0, 2), [first, second]);
      assert.deepEqual(await page(user(ada.userId), second, 10), [third, fan]);
      assert.deepEqual(await page(user(ada.userId), fan, 10), []);
      assert.deepEqual(await page(user(ada.userId), 0, 10, "lamp"), ada.devices);
      assert.deepEqual(await page(user(ada.userId), first, 1, "lamp"), [second]);
      assert.deepEqual(await page(user(bob.userId), 0, 10, "fan"), []);
      assert.deepEqual(await page(tenant(ada.tenantId), 0, 10, "lamp"), [...ada.devices, ...bob.devices]);
      assert.deepEqual(await page(tenant(ada.tenantId), second, 2, "lamp"), [third, bob.devices[0]]);
      assert.deepEqual(await page(tenant(ada.tenantId), 0, 10), [...ada.devices, ...bob.devices, fan]);
      assert.deepEqual(await page(tenant(carol.tenantId), 0, 10, "lamp"), carol.devices);
      assert.deepEqual(await page(tenant(carol.tenantId), 0, 10, "fan"), []);
      for (const unknown of ["Lamp", "", "a\0b", "a\ud83d"]) {
        assert.deepEqual(await page(user(ada.userId), 0, 10, unknown), [], JSON.stringify(unknown));
      }
      const [row] = await store.read((tx) => tx.devices.page(user(ada.userId), { afterId: third, typeName: "fan" }, 1));
      assert.deepEqual(row, await store.read((tx) => tx.devices.find(ada.userId, fan)));
    }));

  it("keep the name and the room of a device until they are changed", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada" });
      const bob = await makeHome(store, { name: "Bob" });
      const lamp = { userId: ada.userId, typeName: "lamp", name: "Lamp", isVirtual: false };
      const shown = async (id: DeviceId) => {
        const { name, room } = (await store.read((tx) => tx.devices.find(ada.userId, id)))!;
        return { name, room };
      };
      assert.deepEqual(await shown(ada.devices[0]!), { name: "lamp 1", room: null });
      const id = await store.transaction((tx) => tx.devices.add({ ...lamp, room: "Küche" }));
      assert.deepEqual(await shown(id), { name: "Lamp", room: "Küche" });
      await store.transaction((tx) => tx.devices.rename(bob.userId, id, { name: "Bob's", room: "Bob's" }));
      assert.deepEqual(await shown(id), { name: "Lamp", room: "Küche" });
      await store.transaction((tx) => tx.devices.rename(ada.userId, id, { name: "Spot", room: null }));
      assert.deepEqual(await shown(id), { name: "Spot", room: null });
    }));

  it("add many devices with their first values, in their order", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada" });
      const bob = await makeHome(store, { name: "Bob" });
      const { typeId } = (await store.read((tx) => tx.devices.find(ada.userId, ada.devices[0]!)))!;
      const none = { names: 0, bytes: 0, isErasing: false };
      const rows = [
        { userId: bob.userId, room: null, lastTimeMs: 0, growth: none },
        { userId: ada.userId, room: "Küche", lastTimeMs: 70, growth: { names: 2, bytes: 12, isErasing: true } },
        { userId: ada.userId, room: null, lastTimeMs: 71, growth: { names: 1, bytes: 3, isErasing: false } },
      ].map((row, index) => ({ ...row, typeId, name: `new ${index}` }));
      const ids = await store.transaction(async (tx) => {
        const added = await tx.devices.addOwn(ada.tenantId, rows);
        const [, second, third] = added as readonly [DeviceId, DeviceId, DeviceId];
        await tx.attributes.writeFirst([
          {
            ...{ userId: ada.userId, deviceId: second, timeMs: 70 },
            values: [
              { key: "7", value: "by name" },
              { key: "gone", value: null },
            ],
          },
          { userId: ada.userId, deviceId: third, timeMs: 71, values: [{ key: "a", value: "ü" }] },
        ]);
        await tx.attributes.writeFirst([]);
        assert.deepEqual(await tx.devices.addOwn(ada.tenantId, []), []);
        return added;
      });
      assert.equal(new Set(ids).size, rows.length);
      await store.read(async (tx) => {
        for (const [index, { growth, ...row }] of rows.entries()) {
          const id = ids[index]!;
          const added = { ...row, id, typeName: "lamp", isVirtual: false };
          assert.deepEqual(plain(await tx.devices.find(row.userId, id)), added);
          assert.ok(await tx.devices.within(tenant(ada.tenantId), id));
          const { names, bytes } = (await tx.attributeUsage.ofDevice(row.userId, id))!;
          assert.deepEqual({ names, bytes }, { names: growth.names, bytes: growth.bytes });
        }
        assert.deepEqual(await tx.attributes.all(ada.userId, ids[1]!), [
          { key: "7", value: "by name", timeMs: 70 },
          { key: "gone", value: null, timeMs: 70 },
        ]);
        assert.deepEqual(await tx.attributes.all(ada.userId, ids[2]!), [{ key: "a", value: "ü", timeMs: 71 }]);
        assert.deepEqual(await tx.attributes.all(bob.userId, ids[0]!), []);
      });
      const next = await store.transaction((tx) => tx.devices.addOwn(ada.tenantId, rows));
      assert.ok(Math.min(...next) > Math.max(...ids));
    }));

  it("read the link states of many devices", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store, { name: "Ada", devices: 2 }), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        await tx.links.add({ ...linkOf(ada, node("A")), confirmedMs: 2 ** 53 - 1 });
        await tx.links.add({ ...linkOf(bob, node("B")), state: "live" });
        await tx.links.releaseAll(node("B"));
      });
      const standings = (devices: readonly { userId: UserId; id: DeviceId }[]) =>
        store.read((tx) => tx.links.standings(devices));
      const found = await standings([
        { userId: bob.userId, id: bob.devices[0]! },
        ...[...ada.devices, 999 as DeviceId].map((id) => ({ userId: ada.userId, id })),
      ]);
      assert.deepEqual(plain(found.sort((a, b) => a.deviceId - b.deviceId)), [
        { deviceId: ada.devices[0], state: "waiting", owner: "A", confirmedMs: 2 ** 53 - 1 },
        { deviceId: bob.devices[0], state: "live", owner: null, confirmedMs: 0 },
      ]);
      assert.deepEqual(await standings([]), []);
    }));

  it("store attributes by number and by name, erased ones too", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const device = devices[0]!;
      await store.transaction(async (tx) => {
        await tx.attributes.write(userId, device, 10, [
          { key: "7", value: "by name" },
          { key: 7, value: "by number" },
          { key: "", value: "nameless" },
          { key: 0, value: null },
        ]);
        await tx.attributes.write(userId, device, 11, [{ key: "7", value: null }]);
        await tx.attributes.write(userId, device, 12, []);
      });
      await store.read(async (tx) => {
        assert.deepEqual(await tx.attributes.all(userId, device), [
          { key: "", value: "nameless", timeMs: 10 },
          { key: "7", value: null, timeMs: 11 },
          { key: 0, value: null, timeMs: 10 },
          { key: 7, value: "by number", timeMs: 10 },
        ]);
        assert.deepEqual(await tx.attributes.some(userId, device, [7, 8]), [
          { key: 7, value: "by number", timeMs: 10 },
        ]);
        assert.deepEqual(await tx.attributes.some(userId, device, ["7", "8"]), [{ key: "7", value: null, timeMs: 11 }]);
        assert.deepEqual(await tx.attributes.some(userId, device, []), []);
        assert.deepEqual(await tx.attributes.all((userId + 1) as UserId, device), []);
      });
    }));

  it("store the last of two values for one attribute in one write", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const changes = ["first", "last"].map((value) => ({ key: "colour", value }));
      await store.transaction((tx) => tx.attributes.write(userId, devices[0]!, 10, changes));
      const rows = await store.read((tx) => tx.attributes.all(userId, devices[0]!));
      assert.deepEqual(rows, [{ key: "colour", value: "last", timeMs: 10 }]);
    }));

  it("keep the newest thousand blind intervals of a device", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store, { devices: 2 });
      const [device, other] = devices as [DeviceId, DeviceId];
      const at = (ms: number) => ({ fromMs: ms, toMs: ms + 1, cause: "no stream" });
      await store.transaction(async (tx) => {
        await tx.blindIntervals.add(userId, other, at(1));
        // Newer than all of the first device: they do not count against its limit.
        for (let i = 1; i <= 3; i++) await tx.blindIntervals.add(userId, other, at(1_000_000 + i));
        for (let i = 1; i <= blindIntervalsKept + 2; i++) await tx.blindIntervals.add(userId, device, at(10 * i));
      });
      const found = await store.read((tx) => tx.blindIntervals.ofDevice(userId, device));
      assert.deepEqual([found.length, found[0]?.fromMs], [blindIntervalsKept, 30]);
      assert.equal((await store.read((tx) => tx.blindIntervals.ofDevice(userId, other))).length, 4);
    }));

  it("sum the blind time of each device since a time", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store, { devices: 3 });
      const [device, other, seeing] = devices as [DeviceId, DeviceId, DeviceId];
      await store.transaction(async (tx) => {
        for (const [fromMs, toMs] of [
          [0, 50],
          [90, 130],
          [200, 210],
        ] as const) {
          await tx.blindIntervals.add(userId, device, { fromMs, toMs, cause: "no stream" });
        }
        await tx.blindIntervals.add(userId, other, { fromMs: 100, toMs: 101, cause: "no stream" });
        await tx.blindIntervals.add(userId, seeing, { fromMs: 1, toMs: 100, cause: "no stream" });
      });
      const asked = [device, other, seeing].map((deviceId) => ({ userId, deviceId }));
      const sums = await store.read((tx) => tx.blindIntervals.sums(asked, 100));
      assert.deepEqual(
        sums.map(({ deviceId, blindMs }) => [deviceId, Number(blindMs)]).sort((a, b) => a[0]! - b[0]!),
        [
          [device, 40],
          [other, 1],
        ],
      );
      assert.deepEqual(await store.read((tx) => tx.blindIntervals.sums([], 100)), []);
    }));

  it("sum the blind time of each device in each hour, and tell how far back it is known", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store, { devices: 3 });
      const [device, other, seeing] = devices as [DeviceId, DeviceId, DeviceId];
      const hour = 3_600_000;
      const since = 500_000 * hour;
      await store.transaction(async (tx) => {
        for (const [of, from, to, cause] of [
          [device, -1, -0.5, "just linked"],
          [device, -0.25, 0.5, "no stream"],
          [device, 0.75, 2.25, "no stream"],
          [other, 1.5, 1.75, "no stream"],
          [other, 1.75, 2, "no stream"],
          [seeing, -2, 0, "no stream"],
        ] as const) {
          await tx.blindIntervals.add(userId, of, { fromMs: since + from * hour, toMs: since + to * hour, cause });
        }
      });
      const asked = [device, other, seeing].map((deviceId) => ({ userId, deviceId }));
      const hours = await store.read((tx) => tx.blindIntervals.hours(asked, since, 3));
      assert.deepEqual(
        hours.map(({ deviceId, hour: nth, blindMs }) => `${deviceId} ${nth} ${blindMs / hour}`).sort(),
        [`${device} 0 0.75`, `${device} 1 1`, `${device} 2 0.25`, `${other} 1 0.5`].sort(),
      );
      const pasts = await store.read((tx) => tx.blindIntervals.pasts(asked));
      assert.deepEqual(
        pasts.map(plain).toSorted((a, b) => a.deviceId - b.deviceId),
        [
          { deviceId: device, linkedMs: since - hour, oldestMs: since - hour, kept: 3 },
          { deviceId: other, linkedMs: null, oldestMs: since + 1.5 * hour, kept: 2 },
          { deviceId: seeing, linkedMs: null, oldestMs: since - 2 * hour, kept: 1 },
        ],
      );
      assert.deepEqual(await store.read((tx) => tx.blindIntervals.hours([], since, 3)), []);
      assert.deepEqual(await store.read((tx) => tx.blindIntervals.pasts([])), []);
    }));

  it("find devices of several tenants by id", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada", devices: 2 });
      const foreign = await elsewhere(store);
      const ids = [...ada.devices, ...foreign.devices];
      const found = async (...tenantIds: readonly TenantId[]) =>
        (await store.read((tx) => tx.devices.someOfTenants(ids, tenantIds))).map(({ id }) => id).sort((a, b) => a - b);
      assert.deepEqual(await found(ada.tenantId), [...ada.devices]);
      assert.deepEqual(
        await found(ada.tenantId, foreign.tenantId),
        ids.toSorted((a, b) => a - b),
      );
      assert.deepEqual(await found(), []);
    }));

  it("keep blind intervals in the order of their start, and the last version of each", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const device = devices[0]!;
      await store.transaction(async (tx) => {
        await tx.blindIntervals.add(userId, device, { fromMs: 50, toMs: 2 ** 53 - 1, cause: "no stream" });
        await tx.blindIntervals.add(userId, device, { fromMs: 10, toMs: 20, cause: "no stream" });
        await tx.blindIntervals.add(userId, device, { fromMs: 10, toMs: 30, cause: "too many changes" });
      });
      const found = () => store.read((tx) => tx.blindIntervals.ofDevice(userId, device));
      const first = { fromMs: 10, toMs: 30, cause: "too many changes" };
      const second = { fromMs: 50, toMs: 2 ** 53 - 1, cause: "no stream" };
      assert.deepEqual(plain(await found()), [first, second]);
      assert.equal(await store.transaction((tx) => tx.blindIntervals.removeEndedBefore(userId, device, 30)), 0);
      assert.equal(await store.transaction((tx) => tx.blindIntervals.removeEndedBefore(userId, device, 31)), 1);
      assert.deepEqual(plain(await found()), [second]);
    }));

  it("remove a device with all its data, and nothing of another device", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const [gone, stays] = home.devices as [DeviceId, DeviceId];
      await store.transaction(async (tx) => {
        await tx.links.add(linkOf(home, node("A")));
        await tx.links.add({ ...linkOf(home, node("A")), deviceId: stays, ecosystem: "other" });
        for (const deviceId of home.devices) {
          await tx.attributes.write(userId, deviceId, 1, [
            { key: 1, value: null },
            { key: "x", value: "y" },
          ]);
          await tx.log.append({ userId, deviceId, kind: "attribute", timeMs: 1, body: "{}" });
          await tx.blindIntervals.add(userId, deviceId, { fromMs: 1, toMs: 2, cause: "no stream" });
        }
      });
      const remove = (deviceId: DeviceId) =>
        store.transaction(async (tx) => {
          const wasLinked = await tx.links.remove(userId, deviceId);
          const removed = [
            await tx.attributes.removeOfDevice(userId, deviceId),
            await tx.log.removeOfDevice(userId, deviceId),
            await tx.blindIntervals.removeOfDevice(userId, deviceId),
          ];
          await tx.devices.remove(userId, deviceId);
          return [wasLinked, ...removed];
        });
      assert.deepEqual(await remove(gone), [true, 2, 1, 1]);
      assert.deepEqual(await remove(gone), [false, 0, 0, 0]);
      await store.read(async (tx) => {
        assert.equal(await tx.devices.find(userId, gone), undefined);
        assert.equal(await tx.links.ofDevice(userId, gone), undefined);
        assert.deepEqual(await tx.devices.versions([{ userId, id: gone }]), []);
        assert.ok((await tx.devices.find(userId, stays)) && (await tx.links.ofDevice(userId, stays)));
        assert.equal((await tx.attributes.all(userId, stays)).length, 2);
        assert.equal((await tx.log.ofDevice(userId, stays)).length, 1);
        assert.equal((await tx.blindIntervals.ofDevice(userId, stays)).length, 1);
      });
    }));
}

/** A home in another tenant. */
async function elsewhere(store: OpenStore): Promise<Home> {
  return store.transaction(async (tx) => {
    const tenantId = (await tx.tenants.add({ name: "elsewhere" }))!;
    const userId = (await tx.users.add({ tenantId, name: "Carol", passwordHash: "…", isAdmin: false }))!;
    const device = await tx.devices.add({ userId, typeName: "lamp", name: "carol's lamp", isVirtual: false });
    return { tenantId, userId, devices: [device], byClient: { by: "client", user: userId } };
  });
}

const user = (userId: number): AccessScope => ({ kind: "user", userId: userId as UserId });
const tenant = (tenantId: number): AccessScope => ({ kind: "enterprise", tenantId: tenantId as TenantId });
