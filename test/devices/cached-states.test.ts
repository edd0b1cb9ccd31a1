import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deviceReading } from "../../src/devices/read.ts";
import { DeviceStates, type ReadBeside } from "../../src/devices/states.ts";
import { UnknownDevice } from "../../src/model/errors.ts";
import type { DeviceId, TenantId } from "../../src/model/ids.ts";
import type { AttributeKey } from "../../src/store/tables/attributes.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

const long = "x".repeat(4_000);

/** Three devices, and a cache with room for two attributes of 4,000 characters. */
const on = (test: (home: Awaited<ReturnType<typeof cachedHome>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await cachedHome(store)));

async function cachedHome(store: Parameters<Parameters<typeof onStore>[1]>[0]) {
  const home = await makeHome(store, { devices: 3 });
  const { userId } = home;
  const [one, two, three] = home.devices as [DeviceId, DeviceId, DeviceId];
  const states = new DeviceStates(store, { bytesHeld: 10_000 });
  const fill = (deviceId: DeviceId, values: readonly (readonly [AttributeKey, string | null])[]) =>
    store.transaction((tx) =>
      tx.attributes.write(
        userId,
        deviceId,
        1,
        values.map(([key, value]) => ({ key, value })),
      ),
    );
  const get = (deviceId: DeviceId) => states.get(userId, deviceId);
  const cached = () => [one, two, three].filter((deviceId) => states.cached(userId, deviceId) !== undefined);
  /** A commit that became durable. */
  const apply = (deviceId: DeviceId, ...changes: readonly (readonly [AttributeKey, string | null])[]) => {
    const { lastTimeMs } = states.cached(userId, deviceId)!.device;
    states.apply([
      {
        userId,
        deviceId,
        cause: { by: "administrator" },
        hop: 0,
        things: [],
        timeMs: lastTimeMs + 1,
        previousTimeMs: lastTimeMs,
        changes: changes.map(([key, value]) => ({ key, value, before: null })),
      },
    ]);
  };
  return { ...home, store, states, one, two, three, fill, get, cached, apply };
}

describe("states in memory", () => {
  it("take a bounded number of bytes: the least recently changed is evicted, also when another one grows", () =>
    on(async ({ one, two, three, fill, get, cached, apply }) => {
      for (const deviceId of [one, two, three]) await fill(deviceId, [["a", long]]);
      for (const deviceId of [one, two]) await get(deviceId);
      assert.deepEqual(cached(), [one, two]);
      await get(three);
      assert.deepEqual(cached(), [two, three]);
      apply(three, ["b", long]);
      assert.deepEqual(cached(), [three]);
      apply(three, ["b", null]);
      await get(two);
      assert.deepEqual(cached(), [two, three]);
    }));

  it("stay when their device falls silent: a silence writes no attribute and no time", () =>
    on(async ({ one, userId, get, states }) => {
      const state = await get(one);
      const { lastTimeMs } = state!.device;
      const silence = {
        userId,
        deviceId: one,
        cause: { by: "administrator" },
        hop: 0,
        things: [],
        changes: [],
      } as const;
      states.apply([{ ...silence, timeMs: lastTimeMs + 5, previousTimeMs: lastTimeMs, isSilence: true }]);
      assert.equal(states.cached(userId, one), state);
    }));

  it("of a shared store are checked and read beside in one read", () =>
    on(async ({ one, two, userId, store, get }) => {
      assert.ok(await get(one));
      let reads = 0;
      const read: typeof store.read = (body, priority) => {
        reads += 1;
        return store.read(body, priority);
      };
      const shared = new DeviceStates({ ...store, isShared: true, read } as typeof store, { bytesHeld: 10_000 });
      for (const deviceId of [one, two]) await shared.get(userId, deviceId);
      reads = 0;
      const beside: DeviceId[] = [];
      const note: ReadBeside = async (_, { id }) => void beside.push(id);
      await Promise.all([shared.get(userId, one, note), shared.get(userId, two, note), shared.get(userId, two)]);
      assert.deepEqual([reads, beside], [1, [one, two]]);
    }));

  it("count an attribute that a commit writes twice once", () =>
    on(async ({ one, two, fill, get, cached, apply }) => {
      await fill(two, [["a", long]]);
      for (const deviceId of [one, two]) await get(deviceId);
      apply(one, ["a", long], ["a", long]);
      assert.deepEqual(cached(), [one, two]);
    }));

  it("count the names of attributes, and nothing for those of a linked account, which are numbers", () =>
    on(async ({ one, two, three, fill, get, cached }) => {
      await fill(one, [["a", long]]);
      await fill(two, [[17, long]]);
      for (const deviceId of [one, two]) await get(deviceId);
      assert.deepEqual(cached(), [one, two]);
      await fill(
        three,
        Array.from({ length: 40 }, (_, i) => [`${i}`.padStart(128, "0"), null]),
      );
      await get(three);
      assert.deepEqual(cached(), [three]);
    }));

  it("have all their room again after all were forgotten", () =>
    on(async ({ one, two, three, states, fill, get, cached }) => {
      for (const deviceId of [one, two, three]) await fill(deviceId, [["a", long]]);
      for (const deviceId of [one, two]) await get(deviceId);
      states.forgetAll();
      assert.deepEqual(cached(), []);
      for (const deviceId of [two, three]) await get(deviceId);
      assert.deepEqual(cached(), [two, three]);
    }));
});

describe("reading a device", () => {
  it("finds it for its user and for its tenant, and for nobody else", () =>
    on(async ({ one, store, states, userId, tenantId }) => {
      const bob = await makeHome(store, { name: "Bob", devices: 0 });
      const reading = deviceReading(store, states);
      for (const scope of [{ kind: "user", userId } as const, { kind: "enterprise", tenantId } as const]) {
        assert.equal((await reading.device(scope, one)).id, one);
        assert.equal((await reading.state(scope, one)).device.id, one);
      }
      const strangers = [
        { kind: "user", userId: bob.userId } as const,
        { kind: "enterprise", tenantId: (tenantId + 1) as TenantId } as const,
      ];
      for (const scope of strangers) {
        await assert.rejects(reading.device(scope, one), UnknownDevice);
        await assert.rejects(reading.state(scope, one), UnknownDevice);
      }
    }));

  it("lists devices in pages of 100", () =>
    on(async ({ store, states, userId }) => {
      await store.transaction(async (tx) => {
        const lamp = { userId, typeName: "lamp", name: "lamp", isVirtual: false };
        for (let i = 4; i <= 200; i++) await tx.devices.add(lamp);
      });
      const { page } = deviceReading(store, states);
      const scope = { kind: "user", userId } as const;
      const first = await page(scope, { afterId: 0, typeName: "lamp" });
      assert.deepEqual([first.devices.length, first.next], [100, { afterId: first.devices[99]!.id, typeName: "lamp" }]);
      const second = await page(scope, first.next!);
      assert.deepEqual([second.devices.length, second.next], [100, undefined]);
    }));

  it("needs no statement when its user reads a cached state, and one when an enterprise client does", () =>
    on(async ({ one, store, states, userId, tenantId }) => {
      await states.get(userId, one);
      let reads = 0;
      const counted: typeof store = Object.assign(Object.create(store), {
        read: (...asked: Parameters<typeof store.read>) => {
          reads += 1;
          return store.read(...asked);
        },
      });
      const reading = deviceReading(counted, states);
      const [ofUser, ofTenant] = [{ kind: "user", userId } as const, { kind: "enterprise", tenantId } as const];
      assert.equal((await reading.state(ofUser, one)).device.id, one);
      assert.equal(reading.cachedState(ofUser, one)?.device.id, one);
      assert.equal(reads, 0);
      await reading.state(ofTenant, one);
      assert.equal(reads, 1);
      assert.equal(reading.cachedState(ofTenant, one), undefined, "its user would have to be looked up");
    }));
});
