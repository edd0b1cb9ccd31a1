import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId } from "../../../src/model/ids.ts";
import { bytesOf } from "../../../src/model/trigger.ts";
import type { AlertListFilter } from "../../../src/store/tables/alert-rows.ts";
import type { NewThingTrigger } from "../../../src/store/tables/thing-triggers.ts";
import type { NewTrigger } from "../../../src/store/tables/triggers.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";
import { thingOf } from "./thing-table-cases.ts";

const rule = {
  condition: { operation: "equals", text: "alarm" },
  action: "email",
  targets: [],
  address: "",
  message: "Smoke ☁",
  autoDisarm: true,
  autoDelete: false,
  autoDisable: false,
  isEnabled: true,
  isArmed: true,
  reason: null,
  createdMs: 1,
} as const;

function onThing(home: Home, thingId: string, fields: Partial<NewThingTrigger> = {}): NewThingTrigger {
  return { ...rule, userId: home.userId, deviceId: home.devices[0]!, thingId, field: "smoke.state", ...fields };
}

function onAttribute({ userId, devices }: Home, name = "power"): NewTrigger {
  return { ...rule, userId, deviceId: devices[0]!, key: name, attributeName: name };
}

export function thingTriggerTableCases(harness: StoreHarness): void {
  it("keeps an alert on a thing as it was added, changed and redefined", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId } = home;
      const added = await store.transaction(async (tx) => {
        await tx.things.put(thingOf(home, "t_1"));
        return tx.thingTriggers.add(onThing(home, "t_1"));
      });
      const row = { commands: [], ...onThing(home, "t_1"), id: added, firedMs: null, firings: 0 };
      const read = () => store.read(async (tx) => plain(await tx.thingTriggers.withRecord(userId, added)));
      assert.deepEqual(await read(), { trigger: row, record: [], commanding: undefined });
      const record = [{ timeMs: 5, value: "alarm", outcome: "fired" }] as const;
      const change = { isArmed: false, firedMs: 5, firings: 1, isEnabled: false, reason: "because" };
      const commanding = { sinceMs: 5, firings: 2 };
      await store.transaction((tx) => tx.thingTriggers.change(userId, added, { ...change, record, commanding }));
      assert.deepEqual(await read(), { trigger: { ...row, ...change }, record, commanding });
      const next = {
        ...row,
        ...change,
        field: "battery.percent",
        condition: { operation: "<", threshold: 20 } as const,
        action: "attribute",
        targets: [{ deviceId: home.devices[0]!, attributeName: "power", value: "on" }],
        commands: [{ kind: "light", trait: "onOff", command: "set", params: { on: true } }],
        address: "hall",
        message: "Low",
        autoDisarm: false,
        autoDelete: true,
        autoDisable: true,
        isEnabled: true,
        isArmed: true,
        reason: null,
      };
      await store.transaction((tx) => tx.thingTriggers.redefine(next));
      assert.deepEqual(await read(), { trigger: next, record, commanding });
      await store.transaction((tx) => tx.thingTriggers.remove(userId, added));
      assert.equal(await read(), undefined);
    }));

  it("lists alerts of many users newest first, by tenant, user, device, state and place", () =>
    onStore(harness, async (store) => {
      const [home, other] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const [first, second, third] = await store.transaction(async (tx) => [
        await tx.triggers.add(onAttribute(home)),
        await tx.triggers.add({ ...onAttribute(other), isArmed: false }),
        await tx.triggers.add({ ...onAttribute(home), isEnabled: false, reason: "a limit" }),
      ]);
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(home, "t_1"));
        await tx.thingTriggers.add(onThing(home, "t_1"));
      });
      const ids = (filter: Partial<AlertListFilter>) =>
        store.read(async (tx) => (await tx.triggers.listed({ limit: 10, ...filter })).map(({ id }) => id));
      assert.deepEqual(await ids({}), [third, second, first]);
      assert.deepEqual(await ids({ tenantIds: [home.tenantId] }), [third, second, first]);
      assert.deepEqual(await ids({ tenantIds: [] }), []);
      assert.deepEqual(await ids({ tenantIds: [(home.tenantId + 1) as TenantId] }), []);
      assert.deepEqual(await ids({ userId: home.userId }), [third, first]);
      assert.deepEqual(await ids({ deviceId: other.devices[0]! }), [second]);
      assert.deepEqual(await ids({ state: "armed" }), [first]);
      assert.deepEqual(await ids({ state: "waiting" }), [second]);
      assert.deepEqual(await ids({ state: "disabled" }), [third]);
      assert.deepEqual(await ids({ state: "stopped", limit: 1 }), [third]);
      assert.deepEqual(await ids({ beforeId: third!, limit: 1 }), [second]);
      assert.deepEqual(await ids({ id: second!, tenantIds: [home.tenantId] }), [second]);
      assert.deepEqual(await ids({ id: second!, tenantIds: [(home.tenantId + 1) as TenantId] }), []);
      const onThings = await store.read((tx) => tx.thingTriggers.listed({ limit: 10, tenantIds: [home.tenantId] }));
      assert.deepEqual(
        onThings.map(({ userId, thingId }) => [userId, thingId]),
        [[home.userId, "t_1"]],
      );
    }));

  it("gives alerts of both kinds ids that differ, and never one of a removed alert", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const ids = await store.transaction(async (tx) => {
        await tx.things.put(thingOf(home, "t_1"));
        const add = [
          () => tx.thingTriggers.add(onThing(home, "t_1")),
          () => tx.thingTriggers.add(onThing(home, "t_1")),
          () => tx.triggers.add(onAttribute(home)),
          () => tx.thingTriggers.add(onThing(home, "t_1")),
          () => tx.triggers.add(onAttribute(home)),
        ];
        const drawn = [];
        for (const [i, one] of add.entries()) {
          drawn.push(await one());
          if (i === 3) await tx.thingTriggers.remove(home.userId, drawn[3]!);
        }
        return drawn;
      });
      assert.deepEqual(
        ids,
        ids.map((_, i) => ids[0]! + i),
      );
    }));

  it("finds enabled alerts on attributes in the order of their ids, whatever the attributes are called", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId, devices } = home;
      const names = ["power", "level", "room", "colour"];
      const ids = await store.transaction(async (tx) => {
        const added = [];
        for (const name of names) added.push(await tx.triggers.add(onAttribute(home, name)));
        await tx.triggers.add({ ...onAttribute(home), isEnabled: false });
        return added;
      });
      const found = await store.read((tx) => tx.triggers.watching(userId, devices[0]!, names));
      assert.deepEqual(
        found.map(({ id, key }) => [id, key]),
        ids.map((id, index) => [id, names[index]]),
      );
    }));

  it("finds enabled alerts on the named fields of the named things", () =>
    onStore(harness, async (store) => {
      const [home, other] = [await makeHome(store, { devices: 3 }), await makeHome(store, { name: "Bob" })];
      const ids = await store.transaction(async (tx) => {
        await tx.triggers.add({ ...onAttribute(home), deviceId: home.devices[1]! });
        await tx.triggers.add({ ...onAttribute(home), deviceId: home.devices[2]!, isEnabled: false });
        for (const one of [home, other]) for (const id of ["t_1", "t_2"]) await tx.things.put(thingOf(one, id));
        const added = [];
        for (const trigger of [
          onThing(home, "t_2"),
          onThing(home, "t_1"),
          onThing(home, "t_1", { field: "smoke.word" }),
          onThing(home, "t_1", { isEnabled: false }),
          onThing(other, "t_1"),
        ]) {
          added.push(await tx.thingTriggers.add(trigger));
        }
        return added;
      });
      const found = (things: readonly string[], fields: readonly string[]) =>
        store.read((tx) => tx.thingTriggers.watching(home.userId, things, fields));
      assert.deepEqual(
        (await found(["t_1", "t_2"], ["smoke.state"])).map(({ id }) => id),
        [ids[0], ids[1]],
      );
      const [word, ...more] = await found(["t_1"], ["smoke.word", "smoke.testing"]);
      assert.deepEqual(more, []);
      const { condition, autoDisarm, autoDelete, autoDisable, isArmed } = rule;
      const seen = { condition, autoDisarm, autoDelete, autoDisable, isArmed, thingId: "t_1", field: "smoke.word" };
      assert.deepEqual(plain(word), { id: ids[2], userId: home.userId, ...seen });
      const devices = await store.transaction((tx) => tx.devices.lock(home.userId, home.devices));
      assert.deepEqual(
        devices.map(({ isWatched, areThingsWatched }) => ({ isWatched, areThingsWatched })),
        [
          { isWatched: false, areThingsWatched: true },
          { isWatched: true, areThingsWatched: false },
          { isWatched: false, areThingsWatched: false },
        ],
      );
    }));

  it("pages and counts alerts on things, within the access scope", () =>
    onStore(harness, async (store) => {
      const [home, other] = [await makeHome(store, { devices: 2 }), await makeHome(store, { name: "Bob" })];
      const [first, second] = home.devices;
      const definition = onThing(home, "t_1");
      const ids = await store.transaction(async (tx) => {
        for (const id of ["t_1", "t_2"]) await tx.things.put(thingOf(home, id));
        await tx.things.put(thingOf(home, "t_3", { deviceId: second! }));
        await tx.things.put(thingOf(other, "t_1"));
        const added = [];
        for (const thingId of ["t_1", "t_2", "t_1"]) added.push(await tx.thingTriggers.add(onThing(home, thingId)));
        added.push(await tx.thingTriggers.add(onThing(home, "t_3", { deviceId: second!, isEnabled: false })));
        added.push(await tx.thingTriggers.add(onThing(other, "t_1")));
        return added;
      });
      const page = async (filter: object, after = 0, limit = 9) =>
        (await store.read((tx) => tx.thingTriggers.page(home.userId, filter, after, limit))).map(({ id }) => id);
      assert.deepEqual(await page({}), ids.slice(0, 4));
      assert.deepEqual(await page({}, ids[0], 2), ids.slice(1, 3));
      assert.deepEqual(await page({ deviceId: first }), ids.slice(0, 3));
      assert.deepEqual(await page({ thingId: "t_1" }, ids[0]), [ids[2]]);
      assert.deepEqual(await page({ deviceId: second, thingId: "t_1" }), []);
      const bytesOfUser = 4 * bytesOf(definition as never);
      assert.deepEqual(plain(await store.read((tx) => tx.thingTriggers.totals(home.userId, first!))), {
        ofUser: 4,
        ofDevice: 3,
        bytesOfUser,
      });
      const within = (scope: { kind: "user"; userId: never } | { kind: "enterprise"; tenantId: TenantId }) =>
        store.read(async (tx) => (await tx.thingTriggers.within(scope, ids[0]!))?.id);
      assert.equal(await within({ kind: "user", userId: home.userId as never }), ids[0]);
      assert.equal(await within({ kind: "user", userId: other.userId as never }), undefined);
      assert.equal(await within({ kind: "enterprise", tenantId: home.tenantId }), ids[0]);
      assert.equal(await within({ kind: "enterprise", tenantId: (home.tenantId + 1) as TenantId }), undefined);
    }));

  it("removes alerts on things with their thing, their device and their user, and keeps those on gone things", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const [first, second] = home.devices;
      const left = () =>
        store.read(async (tx) => (await tx.thingTriggers.ofUser(home.userId)).map((row) => row.thingId));
      await store.transaction(async (tx) => {
        for (const id of ["t_1", "t_2", "t_3"]) {
          await tx.things.put(thingOf(home, id));
          await tx.thingTriggers.add(onThing(home, id));
        }
        await tx.things.put(thingOf(home, "t_4", { deviceId: second! }));
        await tx.thingTriggers.add(onThing(home, "t_4", { deviceId: second! }));
        await tx.things.setGone(home.userId, ["t_1"], 10);
        await tx.things.setGone(home.userId, ["t_2"], 20);
        await tx.things.put(thingOf(home, "t_3", { state: '{"smoke":{}}' }));
      });
      assert.deepEqual(await left(), ["t_1", "t_2", "t_3", "t_4"]);
      await store.transaction((tx) => tx.things.trimGone(home.userId, first!, 11, 9));
      assert.deepEqual(await left(), ["t_2", "t_3", "t_4"]);
      assert.equal(await store.transaction((tx) => tx.thingTriggers.removeOfDevice(home.userId, second!)), 1);
      assert.deepEqual(await left(), ["t_2", "t_3"]);
      // As a node of the version before unlinks an account: it does not know the table.
      await store.transaction((tx) => tx.devices.remove(home.userId, first!));
      assert.deepEqual(await left(), []);
      await store.transaction(async (tx) => {
        await tx.things.put(thingOf(home, "t_4", { deviceId: second! }));
        await tx.thingTriggers.add(onThing(home, "t_4", { deviceId: second! }));
        assert.equal(await tx.thingTriggers.removeOfUser(home.userId), 1);
      });
      assert.deepEqual(await left(), []);
    }));
}
