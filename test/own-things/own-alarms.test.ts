import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { deviceWriting, type StartsAlarm } from "../../src/devices/write.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { OwnAlarms } from "../../src/own-things/own-alarms.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { thingReading } from "../../src/own-things/thing-reading.ts";
import { provisioningOn } from "../../src/provisioning/provisioning.ts";
import { TenantDeviceCounts } from "../../src/provisioning/tenant-device-counts.ts";
import type { Store } from "../../src/store/seam.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { clockedStore } from "./clocked-store.ts";
import { plainIds } from "./made-own-things.ts";

const alarmMap = {
  kind: "alarm",
  traits: {
    smoke: { state: { attribute: "smoke", words: { clear: "ok", alarm: "fire" } } },
    carbonMonoxide: { state: { attribute: "co", words: { clear: "ok", alarm: "gas" } } },
  },
};

/** Own alarms, all doors through which they are written, and how urgent each transaction and commit was. */
async function madeAlarms(t: TestContext) {
  const { store } = await clockedStore(t);
  const home = await makeHome(store, { devices: 4 });
  const { tenantId, userId, devices } = home;
  await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(alarmMap)));
  const urgent = { transactions: 0, commits: 0 };
  const watched: typeof store = Object.create(store, {
    transaction: {
      value: ((body, priority) => {
        if (priority?.urgent) urgent.transactions += 1;
        return store.transaction(body, priority);
      }) as Store["transaction"],
    },
  });
  const ownThings = new OwnThings(plainIds);
  const elapsed = { ms: 0 };
  const elapsedMs = () => elapsed.ms;
  const ownAlarms = new OwnAlarms({ store, ownThings, elapsedMs });
  const alerts = alertsOn({ store });
  const parts = {
    store: watched,
    ownThings,
    reactions: [alerts.react],
    committed: (_: unknown, isUrgent: boolean) => {
      if (isUrgent) urgent.commits += 1;
    },
    report: silent,
  };
  const startsAlarm: StartsAlarm = async (device, changes) =>
    (await ownAlarms.startsAlarm({ device, changes })) && ownAlarms.admits(tenantId);
  const writing = deviceWriting(store, commitOn(parts), startsAlarm);
  const provisioning = provisioningOn({
    store,
    commitGroup: commitGroupOn(parts),
    states: new DeviceStates(store),
    counts: new TenantDeviceCounts(store, elapsedMs),
    ownThings,
    ownAlarms,
    elapsedMs,
  });
  /** How many transactions and commits were urgent since the last call. */
  const counted = () => {
    const { transactions, commits } = urgent;
    Object.assign(urgent, { transactions: 0, commits: 0 });
    return [transactions, commits];
  };
  const stateOf = (deviceId: DeviceId, name: string, value: string) => ({ deviceId, writes: [{ name, value }] });
  const put = (deviceId: DeviceId, name: string, value: string | null) =>
    writing.write({ kind: "user", userId }, deviceId, [{ name, value }]);
  const added = (value: string) => ({
    ...{ userId, name: "alarm", typeName: "lamp" },
    changes: [{ key: "smoke", value }],
  });
  const reading = thingReading(store, ownThings);
  /** The devices whose alarms sound. */
  const sounding = async (filter: Parameters<typeof reading.sounding>[0] = {}) =>
    (await reading.sounding(filter, 10)).things.map(({ deviceId }) => deviceId);
  return { sounding, tenantId, userId, devices, provisioning, alerts, put, stateOf, added, counted, elapsed };
}

describe("an alarm of an own device is urgent for the store and for listeners", () => {
  it("is listed while one of its sensors reports it, also as a first value, and not after its removal", async (t) => {
    const { sounding, put, devices, userId, tenantId, provisioning, added } = await madeAlarms(t);
    const [one] = devices as [DeviceId];
    assert.deepEqual(await sounding(), []);
    await put(one, "smoke", "fire");
    await put(one, "co", "gas");
    await put(one, "level", "7");
    assert.deepEqual(await sounding(), [one]);
    assert.deepEqual([await sounding({ userId }), await sounding({ tenantIds: [] })], [[one], []]);
    assert.deepEqual(await sounding({ tenantIds: [tenantId] }), [one]);
    await put(one, "smoke", "ok");
    assert.deepEqual(await sounding(), [one], "the CO sensor still reports gas");
    await put(one, "co", "ok");
    assert.deepEqual(await sounding(), []);
    await provisioning.addAll(tenantId, [added("ok"), added("fire")] as never);
    const [first, ...others] = await sounding();
    assert.ok(first! > devices.at(-1)! && others.length === 0);
    await provisioning.remove(tenantId, first!);
    assert.deepEqual(await sounding(), []);
  });

  it("when one attribute is written", async (t) => {
    const { devices, put, counted } = await madeAlarms(t);
    const [alarm] = devices as [DeviceId];
    await put(alarm, "smoke", "ok");
    assert.deepEqual(counted(), [0, 0], "the first value, and it is clear");
    await put(alarm, "smoke", "fire");
    assert.deepEqual(counted(), [1, 1]);
    await put(alarm, "smoke", "fire");
    assert.deepEqual(counted(), [0, 0], "a repeated alarm");
    await put(alarm, "smoke", "ok");
    assert.deepEqual(counted(), [0, 1], "its end");
    await put(alarm, "co", "sensor fault");
    assert.deepEqual(counted(), [1, 1], "an unknown word");
    await put(alarm, "name", "fire");
    assert.deepEqual(counted(), [0, 0], "another attribute");
  });

  it("when it is among the states of many devices, up to the last line that starts one", async (t) => {
    const { tenantId, devices, provisioning, stateOf, counted } = await madeAlarms(t);
    const [one, two, three, four] = devices as [DeviceId, DeviceId, DeviceId, DeviceId];
    const states = [stateOf(one, "smoke", "ok"), stateOf(two, "co", "gas"), stateOf(three, "smoke", "ok")];
    assert.deepEqual(await provisioning.alarmLines(tenantId, states), [1]);
    await provisioning.writeSome(tenantId, states, undefined, true);
    assert.deepEqual(counted(), [1, 1]);
    assert.deepEqual(await provisioning.alarmLines(tenantId, states), [], "nothing starts any more");
    await provisioning.writeSome(tenantId, states);
    assert.deepEqual(counted(), [0, 0]);
    const absent = stateOf(999 as DeviceId, "smoke", "fire");
    assert.deepEqual(await provisioning.alarmLines(tenantId, [absent, stateOf(four, "smoke", "")]), []);
    const [ok, gas] = [stateOf(one, "smoke", "ok"), stateOf(four, "co", "gas")];
    assert.deepEqual(await provisioning.alarmLines(tenantId, [absent, gas, ok, stateOf(one, "smoke", "fire")]), [1, 3]);
  });

  it("when the device is added with it, in both modes", async (t) => {
    const { tenantId, provisioning, added, counted } = await madeAlarms(t);
    await provisioning.addAll(tenantId, [added("ok")]);
    await provisioning.addSome(tenantId, [added("ok")]);
    assert.deepEqual(counted(), [0, 0]);
    await provisioning.addAll(tenantId, [added("ok"), added("fire")]);
    assert.deepEqual(counted(), [1, 1]);
    await provisioning.addSome(tenantId, [added("fire")]);
    assert.deepEqual(counted(), [1, 1]);
  });

  it("when an alert writes it", async (t) => {
    const { userId, devices, alerts, put, counted } = await madeAlarms(t);
    const [alarm, button] = devices as [DeviceId, DeviceId];
    await alerts.add(
      { kind: "user", userId },
      {
        ...{ deviceId: button, attributeName: "pressed", operation: "equals", stringThreshold: "yes", threshold: "" },
        ...{ action: "attribute", targets: [{ deviceId: alarm, attributeName: "smoke", value: "fire" }] },
        ...{ address: "", message: "", autoDisarm: true, autoDelete: false, autoDisable: false, isEnabled: true },
      },
    );
    await put(button, "pressed", "yes");
    assert.deepEqual(counted(), [0, 1]);
  });

  it("fifty times a second for one tenant; further ones wait like ordinary writes", async (t) => {
    const { devices, put, counted, elapsed } = await madeAlarms(t);
    const [alarm] = devices as [DeviceId];
    for (let round = 0; round < 60; round++) await put(alarm, "smoke", `fault ${round}`);
    const [transactions] = counted();
    assert.equal(transactions, 50);
    elapsed.ms += 1_000;
    await put(alarm, "smoke", "fire");
    assert.deepEqual(counted(), [1, 1]);
  });
});
