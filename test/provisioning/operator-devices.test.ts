import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { addDevice, removeDevice } from "../../src/provisioning/operator-devices.ts";
import type { Transaction } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

async function madeHome(t: TestContext) {
  const folder = await newDataFolder("breezeway-inventory-");
  const store = await openSqlite({ folder, nowMs: () => 1_000 });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const states = new DeviceStates(store);
  const commit = commitOn({ store, reactions: [], committed: (commits) => states.apply(commits), report: silent });
  const { userId, byClient } = await makeHome(store, { devices: 0 });
  const add = (name: string) => addDevice(store, { userId, name, typeName: "Lamp" });
  const paint = (deviceId: DeviceId, value: string) =>
    commit({ userId, cause: byClient, updates: [{ deviceId, changes: [{ key: "colour", value }] }] });
  const left = (deviceId: DeviceId) =>
    store.read(async (tx) => ({
      device: await tx.devices.find(userId, deviceId),
      attributes: await tx.attributes.all(userId, deviceId),
      log: (await tx.log.ofDevice(userId, deviceId)).map(({ kind, body }) => [kind, body]),
    }));
  return { store, states, userId, add, paint, left };
}

/** The tables of a tenant in which each device counts for half a million. */
function weighted(tx: Transaction): Transaction {
  const devices = Object.create(tx.devices, {
    hasInTenant: {
      value: (userId: UserId, count: number) => tx.devices.hasInTenant(userId, count / 500_000),
    },
  });
  return Object.create(tx, { devices: { value: devices } });
}

describe("adding a device", () => {
  it("is refused when the user has as many as the limit allows; virtual ones and other users' don't count", async (t) => {
    const { store, userId, add, states } = await madeHome(t);
    const bob = await makeHome(store, { name: "Bob", devices: 0 });
    const lamp = { typeName: "Lamp", name: "one of many", isVirtual: false };
    const made: DeviceId[] = [];
    await store.transaction(async (tx) => {
      await tx.devices.add({ ...lamp, userId, isVirtual: true });
      await tx.devices.add({ ...lamp, userId: bob.userId });
      for (let i = 1; i < limits.devicesPerUser; i++) made.push(await tx.devices.add({ ...lamp, userId }));
    });
    await add("the last one");
    await assert.rejects(add("one too many"), { code: "limit_reached", limit: "devicesPerUser" });
    const listed = await store.read((tx) => tx.devices.ofUser(userId));
    assert.equal(listed.filter(({ isVirtual }) => !isVirtual).length, limits.devicesPerUser);
    await removeDevice(store, states, userId, made[0]!);
    await add("in its place");
  });

  it("counts the devices of a tenant over all its users", async (t) => {
    const { store, userId, add } = await madeHome(t);
    await makeHome(store, { name: "Bob", devices: 2 });
    const has = (count: number) => store.read((tx) => tx.devices.hasInTenant(userId, count));
    assert.deepEqual([await has(2), await has(3)], [true, false]);
    await add("a third");
    assert.equal(await has(3), true);
  });

  it("is refused when the tenant has as many as the limit allows", async (t) => {
    const { store, userId, add } = await madeHome(t);
    await makeHome(store, { name: "Bob", devices: 1 });
    const full = Object.create(store, {
      transaction: {
        value: (body: (tx: Transaction) => Promise<unknown>) => store.transaction((tx) => body(weighted(tx))),
      },
    }) as typeof store;
    const addTo = (name: string) => addDevice(full, { userId, name, typeName: "Lamp" });
    await addTo("the last one");
    await assert.rejects(addTo("one too many"), { code: "limit_reached", limit: "devicesPerTenant" });
    await add("in a tenant with room");
  });

  it("leaves a log entry that it was added", async (t) => {
    const { add, left } = await madeHome(t);
    assert.deepEqual((await left(await add("one"))).log, [["device", '{"what":"added"}']]);
  });

  it("is refused for a user who does not exist", async (t) => {
    const { store } = await madeHome(t);
    const lamp = { userId: 999 as UserId, name: "one", typeName: "Lamp" };
    await assert.rejects(addDevice(store, lamp), { code: "not_found", message: "User 999 does not exist." });
  });

  for (const [parameter, property] of [
    ["name", "name"],
    ["type", "typeName"],
  ] as const) {
    it(`takes a ${parameter} of 1 to 128 characters without control characters`, async (t) => {
      const { store, userId } = await madeHome(t);
      const addWith = (text: string) => addDevice(store, { userId, name: "one", typeName: "Lamp", [property]: text });
      for (const text of ["x", "x".repeat(128), "Küche 🏠"]) await addWith(text);
      for (const text of ["", "  ", "x".repeat(129), "bell\u0007", "half \uD83C"]) {
        await assert.rejects(addWith(text), { code: "bad_parameter", parameter }, JSON.stringify(text));
      }
    });
  }
});

describe("removing a device", () => {
  it("removes its attributes and its history, and leaves one log entry that it was removed", async (t) => {
    const { store, states, userId, add, paint, left } = await madeHome(t);
    const [gone, stays] = [await add("one"), await add("another")];
    await paint(gone, "red");
    await paint(stays, "blue");
    const before = await left(stays);
    await states.get(userId, gone);
    await removeDevice(store, states, userId, gone);
    assert.deepEqual(await left(gone), { device: undefined, attributes: [], log: [["device", '{"what":"removed"}']] });
    assert.deepEqual(await left(stays), before);
    assert.equal(await states.get(userId, gone), undefined, "memory still shows it");
    await assert.rejects(paint(gone, "green"), { code: "not_found" });
    assert.ok((await add("a third")) > stays, "its id was given again");
  });

  it("is refused for another user's device, an absent one, and a linked account's", async (t) => {
    const { store, states, userId, add, left } = await madeHome(t);
    const lamp = await add("one");
    const bob = await makeHome(store, { name: "Bob" });
    const unknown = { code: "unknown_device" };
    await assert.rejects(removeDevice(store, states, bob.userId, lamp), unknown);
    await assert.rejects(removeDevice(store, states, userId, 999 as DeviceId), unknown);
    await assert.rejects(removeDevice(store, states, 999 as UserId, lamp), unknown);
    assert.ok((await left(lamp)).device);
    const account = await store.transaction((tx) =>
      tx.devices.add({ userId, name: "Nest account", typeName: "EcosystemAccount", isVirtual: true }),
    );
    await assert.rejects(removeDevice(store, states, userId, account), { code: "conflict" });
    assert.ok((await left(account)).device);
  });
});
