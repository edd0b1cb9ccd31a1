import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { virtualDeviceType } from "../../src/model/virtual-device-type.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { thingReading, thingsPerPage } from "../../src/own-things/thing-reading.ts";
import { addDevice, removeDevice } from "../../src/provisioning/operator-devices.ts";
import { makeHome } from "../contracts/store/home.ts";
import { clockedStore, noonMs } from "./clocked-store.ts";
import { lampMap, madeOwnThings, plainIds } from "./made-own-things.ts";

const thermostatMap = {
  kind: "thermostat",
  traits: {
    thermostat: {
      mode: { attribute: "mode", words: { off: "off", heat: "heat" }, writable: true },
      heatCelsius: { attribute: "target", writable: true },
    },
  },
};

/** The changes of things that the log has for a device, oldest first. */
async function changesIn(store: Awaited<ReturnType<typeof clockedStore>>["store"], userId: number, deviceId: DeviceId) {
  const entries = await store.read((tx) => tx.log.ofDevice(userId as never, deviceId));
  return entries.map(({ body }) => JSON.parse(body).things?.[0]);
}

describe("what a write changes in an own thing", () => {
  it("depends on attributes that were not written, and is left out when it is nothing", async (t) => {
    const { store } = await clockedStore(t);
    const { write, lamp, userId } = await madeOwnThings(store, { map: thermostatMap });
    await write({ mode: "off", target: "20" });
    await write({ mode: "heat", note: "unmapped" });
    await write({ note: "still unmapped" });
    const [, second, third, ...more] = await changesIn(store, userId, lamp);
    assert.deepEqual(second.fields, { "thermostat.mode": "heat", "thermostat.targetCelsius": 20 });
    assert.deepEqual([third, more], [undefined, []]);
  });
});

describe("an own device that an operator adds and removes", () => {
  it("is logged as a thing only if its type has a map", async (t) => {
    const { store } = await clockedStore(t);
    const { userId, tenantId } = await makeHome(store, { devices: 0 });
    await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(lampMap)));
    const ownThings = new OwnThings(plainIds);
    const states = { forget: () => undefined };
    for (const [typeName, whats] of [
      ["lamp", [undefined, "added", "gone"]],
      ["plug", [undefined]],
    ] as const) {
      const deviceId = await addDevice(store, { userId, name: typeName, typeName }, ownThings);
      const added = await changesIn(store, userId, deviceId);
      await removeDevice(store, states, userId, deviceId, ownThings);
      const removed = await changesIn(store, userId, deviceId);
      // Removing a device removes what the log said of it before.
      const seen = [...added, ...removed.slice(0, -1)].map((change) => change?.what);
      assert.deepEqual(seen, whats, typeName);
    }
  });
});

describe("the silence of an own device", () => {
  const silentMap = { ...lampMap, online: { silentAfterSeconds: 60 } };
  it("is found again under the lock", async (t) => {
    const { store } = await clockedStore(t);
    const { tenantId, userId, devices } = await makeHome(store);
    const silenceAt = (nowMs: number, change: object = {}) =>
      store.transaction(async (tx) => {
        const [device] = await tx.devices.lock(userId, devices);
        return new OwnThings(plainIds).silenced(tx, { ...device!, lastTimeMs: noonMs, ...change }, nowMs);
      });
    assert.equal(await silenceAt(noonMs + 60_001), undefined, "the type has no map");
    await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(silentMap)));
    assert.equal((await silenceAt(noonMs + 60_001))?.timeMs, noonMs + 60_000);
    assert.equal(await silenceAt(noonMs + 60_000), undefined, "it was written meanwhile");
    assert.equal(await silenceAt(noonMs + 60_001, { lastTimeMs: 0 }), undefined, "it has written nothing yet");
    assert.equal(await silenceAt(noonMs + 60_001, { silentMs: noonMs }), undefined, "the log says so already");
  });

  it("is not ended by what an alert writes, but by the device itself", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { write, lamp, alerts, userId, accessScope, devices } = await madeOwnThings(store, { map: silentMap });
    const reading = thingReading(store, new OwnThings(plainIds));
    const shown = async () => {
      const { available, on } = (await reading.find(accessScope, plainIds.thingIdOf(other))).state.onOff!;
      return [available![0], on![0]];
    };
    const other = devices[1]!;
    await write({ power: "off" }, other);
    const targets = [{ deviceId: other, attributeName: "power", value: "on" }];
    const condition = { operation: "equals", threshold: "", stringThreshold: "on" } as const;
    await alerts.add(accessScope, {
      ...{ deviceId: lamp, attributeName: "power", action: "attribute", targets, ...condition },
      ...{ address: "", message: "", autoDisarm: true, autoDelete: false, autoDisable: false, isEnabled: true },
    });
    clock.nowMs += 60_001;
    await write({ power: "on" });
    assert.deepEqual(await shown(), [false, true]);
    assert.deepEqual((await changesIn(store, userId, other)).at(-1).fields, { "onOff.on": true });
    clock.nowMs += 1;
    await write({ level: "40" }, other);
    assert.deepEqual(await shown(), [true, true]);
    assert.equal((await changesIn(store, userId, other)).at(-1).fields["onOff.available"], true);
  });
});

describe("a list of things of both kinds", () => {
  it("shows all linked things before the own ones, in full pages, each once", async (t) => {
    for (const linked of [thingsPerPage - 1, thingsPerPage, thingsPerPage + 1]) {
      const { page, whole } = await mixedHome(t, linked);
      const listed = await page();
      assert.deepEqual(listed.flat(), whole, `${linked} linked things`);
      assert.deepEqual(
        listed.slice(0, -1).filter(({ length }) => length !== thingsPerPage),
        [],
        "only the last page is short",
      );
      assert.deepEqual((await page("own")).flat(), whole.slice(linked));
      assert.deepEqual((await page("nest")).flat(), whole.slice(0, linked));
    }
  });
});

/** A user with linked things and three lamps. */
async function mixedHome(t: TestContext, linked: number) {
  const { store } = await clockedStore(t);
  const { tenantId, userId, devices } = await makeHome(store, { devices: 3 });
  const row = { userId, key: "alarm/a", source: "nest", kind: "alarm", room: null, descriptor: "{}", state: "{}" };
  const ids = Array.from({ length: linked }, (_, index) => `t_${1_000 + index}`);
  await store.transaction(async (tx) => {
    await tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(lampMap));
    const account = { userId, typeName: virtualDeviceType, name: "account", isVirtual: true };
    const deviceId = await tx.devices.add(account);
    for (const thingId of ids) {
      await tx.things.put({ ...row, key: thingId, thingId, deviceId, print: 0, samples: "[]", goneMs: null });
    }
  });
  const reading = thingReading(store, new OwnThings(plainIds));
  return {
    whole: [...ids, ...devices.map((id) => plainIds.thingIdOf(id))],
    /** The ids on each page. */
    async page(source?: string) {
      const pages: (readonly string[])[] = [];
      let next: Parameters<typeof reading.page>[1] | undefined = { afterDevice: 0, afterThing: "", source };
      while (next) {
        const page: Awaited<ReturnType<typeof reading.page>> = await reading.page({ kind: "user", userId }, next);
        pages.push(page.things.map(({ thingId }) => thingId));
        next = page.next;
        assert.ok(pages.length < 9, "the pages do not end");
      }
      return pages;
    },
  };
}
