import assert from "node:assert/strict";
import { it } from "node:test";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";

function thingOf(home: Home, thingId: string, fields: Partial<ThingRow> = {}): ThingRow {
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

export function thingTableCases(harness: StoreHarness): void {
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

  it("pages over present things within the access scope, with any filter", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(ada, "t_b"));
        await tx.things.put(thingOf(ada, "t_a", { kind: "thermostat", room: null }));
        await tx.things.put(thingOf(ada, "t_gone", { goneMs: 5 }));
        await tx.things.put(thingOf(bob, "t_a", { source: "other" }));
      });
      const start = { afterUser: 0, afterThing: "" };
      const page = async (scope: Parameters<typeof ids>[0], place: object = {}, limit = 9) => ids(scope, place, limit);
      const ids = async (
        scope: { kind: "user"; userId: typeof ada.userId } | { kind: "enterprise"; tenantId: typeof ada.tenantId },
        place: object,
        limit: number,
      ) => {
        const rows = await store.read((tx) => tx.things.page(scope, { ...start, ...place }, limit));
        return rows.map(({ userId, thingId }) => `${userId === ada.userId ? "ada" : "bob"} ${thingId}`);
      };
      const own = { kind: "user", userId: ada.userId } as const;
      const all = { kind: "enterprise", tenantId: ada.tenantId } as const;
      const none = { kind: "enterprise", tenantId: (ada.tenantId + 1) as typeof ada.tenantId } as const;
      assert.deepEqual(await page(own), ["ada t_a", "ada t_b"]);
      assert.deepEqual(await page(own, { afterUser: ada.userId, afterThing: "t_a" }), ["ada t_b"]);
      assert.deepEqual(await page(all), ["ada t_a", "ada t_b", "bob t_a"]);
      assert.deepEqual(await page(all, {}, 1), ["ada t_a"]);
      assert.deepEqual(await page(all, { afterUser: ada.userId, afterThing: "t_b" }), ["bob t_a"]);
      assert.deepEqual(await page(none), []);
      assert.deepEqual(await page(all, { kind: "thermostat" }), ["ada t_a"]);
      assert.deepEqual(await page(all, { room: "Hallway" }), ["ada t_b", "bob t_a"]);
      assert.deepEqual(await page(all, { source: "other", kind: "alarm" }), ["bob t_a"]);
      const within = (scope: typeof own | typeof all | typeof none, id: string) =>
        store.read(async (tx) => (await tx.things.within(scope, id))?.thingId);
      assert.deepEqual(await within(own, "t_gone"), "t_gone");
      assert.deepEqual(await within({ kind: "user", userId: bob.userId } as never, "t_b"), undefined);
      assert.deepEqual([await within(all, "t_b"), await within(none, "t_b")], ["t_b", undefined]);
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
