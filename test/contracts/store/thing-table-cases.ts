import assert from "node:assert/strict";
import { it } from "node:test";
import type { AccessScope } from "../../../src/model/access-scope.ts";
import { UnknownThing } from "../../../src/model/errors.ts";
import type { TenantId } from "../../../src/model/ids.ts";
import { virtualDeviceType } from "../../../src/model/virtual-device-type.ts";
import { OwnThings } from "../../../src/own-things/own-things.ts";
import { type ThingPage, thingReading } from "../../../src/own-things/thing-reading.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { ThingPlace, ThingRow } from "../../../src/store/tables/things.ts";
import { plainOwnThingIds } from "../../home/thing-ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";

export function thingOf(home: Home, thingId: string, fields: Partial<ThingRow> = {}): ThingRow {
  return {
    userId: home.userId,
    thingId,
    deviceId: home.devices[0]!,
    key: `alarm/${thingId}`,
    source: "nest",
    kind: "alarm",
    room: "Hallway",
    descriptor: '{"kind":"alarm"}',
    state: "{}",
    print: 2 ** 53 - 1,
    samples: "[20.5,null]",
    goneMs: null,
    ...fields,
  };
}

/** A home whose first device is the virtual device of a link. */
async function linkedHome(store: OpenStore, name = "Ada"): Promise<Home> {
  const home = await makeHome(store, { devices: 0, name });
  const device = { userId: home.userId, typeName: virtualDeviceType, name: "account", isVirtual: true };
  return { ...home, devices: [await store.transaction((tx) => tx.devices.add(device))] };
}

export function thingTableCases(harness: StoreHarness): void {
  it("replace the state of a thing, and nothing else of it", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const change = { state: '{"smoke":{}}', print: 7, samples: "[21]" };
      await store.transaction(async (tx) => {
        for (const id of ["t_1", "t_2"]) await tx.things.put(thingOf(home, id));
        await tx.things.setState({ userId: home.userId, thingId: "t_1", ...change });
      });
      const rows = await store.read((tx) => tx.things.some(home.userId, ["t_1", "t_2"]));
      assert.deepEqual(
        rows.map(plain).toSorted((a, b) => (a!.thingId < b!.thingId ? -1 : 1)),
        [{ ...thingOf(home, "t_1"), ...change }, thingOf(home, "t_2")],
      );
      assert.deepEqual(await store.read((tx) => tx.things.some(home.userId, ["t_3"])), []);
    }));

  it("find the things that may sound an alarm, of some tenants or one user, in both forms", () =>
    onStore(harness, async (store) => {
      const [ada, bo] = [await linkedHome(store), await linkedHome(store, "Bo")];
      const named = '{"smoke":{"available":[true,5],"state":["warning",5]}}';
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(ada, "t_1", { state: '[5,[7,1,"alarm"]]' }));
        await tx.things.put(thingOf(ada, "t_2", { state: '[5,[7,1,"clear"]]' }));
        await tx.things.put(thingOf(ada, "t_3", { state: '[5,[7,1,"alarm"]]', goneMs: 7 }));
        await tx.things.put(thingOf(bo, "t_4", { state: named }));
      });
      const find = async (filter: object, limit = 10) =>
        (await store.read((tx) => tx.things.findSounding(filter, limit))).map(({ thingId }) => thingId);
      assert.deepEqual(await find({}), ["t_1", "t_4"]);
      assert.deepEqual(await find({}, 1), ["t_1"]);
      assert.deepEqual(await find({ userId: bo.userId }), ["t_4"]);
      assert.deepEqual(await find({ tenantIds: [bo.tenantId] }), ["t_1", "t_4"]);
      assert.deepEqual(await find({ tenantIds: [(bo.tenantId + 1) as TenantId] }), []);
      assert.deepEqual(await find({ tenantIds: [] }), []);
      const links = [ada, bo].map(({ userId, devices }) => ({ userId, deviceId: devices[0]! }));
      assert.deepEqual((await store.read((tx) => tx.things.soundingDevices(links))).sort(), [
        ada.devices[0],
        bo.devices[0],
      ]);
      assert.deepEqual(await store.read((tx) => tx.things.soundingDevices([])), []);
      const clear = { userId: bo.userId, thingId: "t_4", state: "[5]", print: 1, samples: "[]" };
      await store.transaction((tx) => tx.things.setState(clear));
      assert.deepEqual(await find({}), ["t_1"]);
    }));

  it("find at most twenty sounding things of one user, so that one home hides no other", () =>
    onStore(harness, async (store) => {
      const [ada, bo] = [await linkedHome(store), await linkedHome(store, "Bo")];
      await store.transaction(async (tx) => {
        for (let nth = 10; nth < 35; nth++) {
          await tx.things.put(thingOf(ada, `t_${nth}`, { state: '[5,[7,1,"alarm"]]' }));
        }
        await tx.things.put(thingOf(bo, "t_bo", { state: '[5,[8,1,"warning"]]' }));
      });
      const found = await store.read((tx) => tx.things.findSounding({}, 100));
      assert.equal(found.length, 21);
      assert.deepEqual([found[0]!.thingId, found[19]!.thingId, found[20]!.thingId], ["t_10", "t_29", "t_bo"]);
    }));

  it("keeps a thing as it was put, and replaces it", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const thing = thingOf(home, "t_1");
      await store.transaction((tx) => tx.things.put(thing));
      assert.deepEqual((await store.read((tx) => tx.things.some(home.userId, ["t_1", "t_2"]))).map(plain), [thing]);
      const next = { ...thing, kind: "other", room: null, state: '{"smoke":{}}', print: 0, samples: "[]", goneMs: 7 };
      await store.transaction((tx) => tx.things.put(next));
      assert.deepEqual((await store.read((tx) => tx.things.some(home.userId, ["t_1"]))).map(plain), [next]);
      const { thingId, key, print, samples, goneMs } = next;
      const marks = await store.read((tx) => tx.things.marks(home.userId, home.devices[0]!));
      assert.deepEqual(marks.map(plain), [{ thingId, key, print, samples, goneMs }]);
    }));

  it("finds the present things of a kind, in one room or in all", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(ada, "t_3"));
        await tx.things.put(thingOf(ada, "t_1"));
        await tx.things.put(thingOf(ada, "t_2", { room: "Attic" }));
        await tx.things.put(thingOf(ada, "t_4", { goneMs: 7 }));
        await tx.things.put(thingOf(ada, "t_5", { kind: "light" }));
        await tx.things.put(thingOf(bob, "t_6"));
      });
      await store.read(async (tx) => {
        const ofKind = (kind: string, room?: string, limit = 9) => tx.things.ofKind(ada.userId, kind, room, limit);
        assert.deepEqual(await ofKind("alarm"), ["t_1", "t_2", "t_3"]);
        assert.deepEqual(await ofKind("alarm", undefined, 2), ["t_1", "t_2"]);
        assert.deepEqual(await ofKind("alarm", "Hallway"), ["t_1", "t_3"]);
        assert.deepEqual([await ofKind("alarm\0"), await ofKind("alarm", "Hall\0way")], [[], []]);
      });
    }));

  it("pages over the present things of links within the access scope, with any filter", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await linkedHome(store), await linkedHome(store, "Bob")];
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(ada, "t_b"));
        await tx.things.put(thingOf(ada, "t_a", { kind: "thermostat", room: null }));
        await tx.things.put(thingOf(ada, "t_gone", { goneMs: 5 }));
        await tx.things.put(thingOf(bob, "t_a", { source: "other" }));
      });
      const { page, find } = thingReading(store, new OwnThings(plainOwnThingIds));
      const start = { afterDevice: 0, afterThing: "" };
      const own = { kind: "user", userId: ada.userId } as const;
      const all = { kind: "enterprise", tenantId: ada.tenantId } as const;
      const none = { kind: "enterprise", tenantId: (ada.tenantId + 1) as TenantId } as const;
      const ids = async (scope: AccessScope, place: object = {}) =>
        (await page(scope, { ...start, ...place })).things.map(
          ({ userId, thingId }) => `${userId === ada.userId ? "ada" : "bob"} ${thingId}`,
        );
      const ownersOf = (thingId: string, ...tenantIds: readonly TenantId[]) =>
        store.read(async (tx) => (await tx.things.ownersOf(thingId, tenantIds)).toSorted((a, b) => a - b));
      assert.deepEqual(await ownersOf("t_a", ada.tenantId), [ada.userId, bob.userId]);
      assert.deepEqual(await ownersOf("t_b", none.tenantId, ada.tenantId), [ada.userId]);
      assert.deepEqual([await ownersOf("t_a", none.tenantId), await ownersOf("t_a")], [[], []]);
      assert.deepEqual(await ids(own), ["ada t_a", "ada t_b"]);
      const after = { afterDevice: ada.devices[0], afterThing: "t_a" };
      assert.deepEqual(await ids(own, after), ["ada t_b"]);
      assert.deepEqual(await ids(all), ["ada t_a", "ada t_b", "bob t_a"]);
      assert.deepEqual(await ids(all, after), ["ada t_b", "bob t_a"]);
      assert.deepEqual(await ids(none), []);
      assert.deepEqual(await ids(all, { kind: "thermostat" }), ["ada t_a"]);
      assert.deepEqual(await ids(all, { room: "Hallway" }), ["ada t_b", "bob t_a"]);
      assert.deepEqual(await ids(all, { source: "other", kind: "alarm" }), ["bob t_a"]);
      assert.deepEqual(await ids(all, { room: "\0" }), []);
      assert.equal((await find(own, "t_gone")).goneMs, 5);
      assert.equal((await find(all, "t_b")).userId, ada.userId);
      await assert.rejects(find({ kind: "user", userId: bob.userId }, "t_b"), UnknownThing);
      for (const scope of [own, all]) await assert.rejects(find(scope, "t_\0"), UnknownThing);
      await assert.rejects(find(none, "t_b"), UnknownThing);
    }));

  it("goes on after a page without a match, and after a page that is full", () =>
    onStore(harness, async (store) => {
      const homes = [];
      for (let i = 0; i < 102; i++) homes.push(await linkedHome(store, `user ${i}`));
      const [first, last] = [homes[0]!, homes.at(-1)!];
      await store.transaction(async (tx) => {
        for (let i = 0; i < 101; i++) await tx.things.put(thingOf(first, `t_${100 + i}`));
        await tx.things.put(thingOf(last, "t_last", { kind: "light" }));
      });
      const { page } = thingReading(store, new OwnThings(plainOwnThingIds));
      const scope = { kind: "enterprise", tenantId: first.tenantId } as const;
      const sizesOf = async (filter: object) => {
        const sizes: number[] = [];
        let place: ThingPlace | undefined = { afterDevice: 0, afterThing: "", ...filter };
        while (place) {
          const found: ThingPage = await page(scope, place);
          sizes.push(found.things.length);
          place = found.next;
        }
        return sizes;
      };
      assert.deepEqual(await sizesOf({}), [100, 1, 1]);
      assert.deepEqual(await sizesOf({ kind: "light" }), [0, 1]);
    }));

  it("forgets gone things after their time, and all but the newest", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const [first, other] = home.devices;
      const left = (deviceId = first!) =>
        store.read(async (tx) => (await tx.things.marks(home.userId, deviceId)).map(({ thingId }) => thingId).sort());
      await store.transaction(async (tx) => {
        for (const id of ["t_1", "t_2", "t_3", "t_4"]) await tx.things.put(thingOf(home, id));
        await tx.things.put(thingOf(home, "t_5", { deviceId: other!, goneMs: 1 }));
        await tx.things.setGone(home.userId, ["t_1"], 10);
        await tx.things.setGone(home.userId, ["t_2", "t_3"], 20);
      });
      await store.transaction((tx) => tx.things.trimGone(home.userId, first!, 11, 9));
      assert.deepEqual(await left(), ["t_2", "t_3", "t_4"]);
      await store.transaction((tx) => tx.things.trimGone(home.userId, first!, 11, 1));
      assert.deepEqual([(await left()).length, (await left()).includes("t_4")], [2, true]);
      assert.deepEqual(await left(other!), ["t_5"]);
      const removed = await store.transaction((tx) => tx.things.removeOfDevice(home.userId, first!));
      assert.deepEqual(removed, ["t_4"], "a thing that was gone before is not removed now");
      assert.deepEqual([await left(), await left(other!)], [[], ["t_5"]]);
    }));

  it("loses its things with their device, also when an older version removes it", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction((tx) => tx.things.put(thingOf(home, "t_1")));
      await store.transaction((tx) => tx.devices.remove(home.userId, home.devices[0]!));
      assert.deepEqual(await store.read((tx) => tx.things.some(home.userId, ["t_1"])), []);
    }));
}
