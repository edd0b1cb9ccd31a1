import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { earlyRefusalOf, growthOf, refusalOf } from "../../src/devices/growth.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { Growth } from "../../src/store/tables/devices.ts";
import { onStore, type TestDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { limitedHome, namesFrom } from "./limited-home.ts";
import { watchedStore } from "./watched-store.ts";

const { attributesPerDevice: mostNames, attributeBytesPerUser: mostBytes } = limits;

describe("the growth of a device by a write", () => {
  const present = new Map([
    ["colour", "red"],
    ["erased", null],
  ]);
  const cases: readonly (readonly [written: Record<string, string | null>, growth: Growth])[] = [
    [{}, { names: 0, bytes: 0, isErasing: false }],
    [{ colour: "blue" }, { names: 0, bytes: 1, isErasing: false }],
    [{ colour: null }, { names: 0, bytes: -3, isErasing: true }],
    [{ erased: "no" }, { names: 0, bytes: 2, isErasing: false }],
    [{ größe: "5" }, { names: 1, bytes: 8, isErasing: false }],
    [{ new: null }, { names: 1, bytes: 3, isErasing: true }],
    [
      { new: null, colour: "x" },
      { names: 1, bytes: 1, isErasing: true },
    ],
  ];
  for (const [written, growth] of cases) {
    it(`by ${JSON.stringify(written)} is ${growth.names} names and ${growth.bytes} bytes`, () => {
      const changes = Object.entries(written).map(([key, value]) => ({ key, value }));
      assert.deepEqual(growthOf(changes, present), growth);
    });
  }
});

/** A home whose devices claim any usage, and the checks of growth on it. */
async function countedHome(store: OpenStore, place: TestDatabase) {
  const home = await limitedHome(store);
  const { userId } = home;
  const watched = watchedStore(store);
  const looks = () => watched.statements.splice(0).map(({ name }) => name);
  const claim = (deviceId: DeviceId, names: number, bytes: number) =>
    place.sql(
      `UPDATE devices SET attribute_names = ${names}, attribute_bytes = ${bytes}, counted_ms = last_time_ms
       WHERE id = ${deviceId}`,
    );
  const limitFor = async (...growths: readonly (readonly [DeviceId, names: number, bytes: number])[]) => {
    const byDevice = growths.map(([id, names, bytes]) => [id, { names, bytes, isErasing: false }] as const);
    return (await watched.transaction((tx) => refusalOf(tx, userId, new Map(byDevice))))?.limit;
  };
  const earlyLimitFor = async (deviceId: DeviceId, names: readonly string[]) => {
    const changes = names.map((key) => ({ key, value: "x" }));
    return (await watched.transaction((tx) => earlyRefusalOf(tx, userId, deviceId, changes)))?.limit;
  };
  return { ...home, lamp: home.devices[0]!, other: home.devices[1]!, looks, claim, limitFor, earlyLimitFor };
}

const on = (test: (home: Awaited<ReturnType<typeof countedHome>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store, place) => test(await countedHome(store, place)));

describe("the check of a device's growth", () => {
  it("reads nothing for a device that does not grow, and no row of a device whose counters are valid", () =>
    on(async ({ lamp, claim, limitFor, looks }) => {
      await claim(lamp, 10, 100);
      assert.equal(await limitFor([lamp, 0, 0]), undefined);
      assert.equal(await limitFor([lamp, 0, -1]), undefined);
      assert.deepEqual(looks(), []);
      assert.equal(await limitFor([lamp, 0, 1]), undefined);
      assert.deepEqual(looks(), ["attributeUsage.ofDevice", "attributeUsage.bytesOfUser"]);
    }));

  it("allows as many names as the limit, also when a write makes the device smaller", () =>
    on(async ({ lamp, claim, limitFor }) => {
      await claim(lamp, mostNames - 1, 100);
      assert.equal(await limitFor([lamp, 1, 5]), undefined);
      assert.equal(await limitFor([lamp, 2, 5]), "attributesPerDevice");
      assert.equal(await limitFor([lamp, 2, -5]), "attributesPerDevice");
    }));

  it("allows exactly the bytes of a user, over all devices", () =>
    on(async ({ lamp, other, claim, limitFor }) => {
      await claim(lamp, 1, mostBytes - 30);
      await claim(other, 1, 10);
      assert.equal(await limitFor([other, 0, 20]), undefined);
      assert.equal(await limitFor([other, 0, 21]), "attributeBytesPerUser");
      assert.equal(await limitFor([lamp, 0, 11], [other, 0, 10]), "attributeBytesPerUser");
    }));

  it("never refuses a user beyond the limit a write that adds no bytes", () =>
    on(async ({ lamp, other, claim, limitFor }) => {
      await claim(lamp, 1, mostBytes + 100);
      await claim(other, 1, 10);
      assert.equal(await limitFor([lamp, 0, -5], [other, 1, 5]), undefined);
      assert.equal(await limitFor([lamp, 0, -5], [other, 1, 6]), "attributeBytesPerUser");
    }));

  it("adds the bytes of a device that has too many names to count them all", () =>
    on(async ({ lamp, other, claim, limitFor, writeUncounted }) => {
      await writeUncounted(lamp, namesFrom(0, 10_001));
      await claim(other, 1, mostBytes - 1_000);
      assert.equal(await limitFor([lamp, 0, 1]), "attributeBytesPerUser");
    }));

  it("refuses a write of too many names early, unless the device has as many; a name twice counts once", () =>
    on(async ({ lamp, claim, earlyLimitFor, looks }) => {
      const names = Object.keys(namesFrom(0, mostNames));
      await claim(lamp, 0, 0);
      assert.equal(await earlyLimitFor(lamp, names), undefined);
      assert.equal(await earlyLimitFor(lamp, [...names, names[0]!]), undefined);
      assert.deepEqual(looks(), []);
      assert.equal(await earlyLimitFor(lamp, [...names, "new"]), "attributesPerDevice");
      assert.deepEqual(looks(), ["attributeUsage.ofDevice"]);
      await claim(lamp, mostNames + 1, 0);
      assert.equal(await earlyLimitFor(lamp, [...names, "new"]), undefined);
    }));
});
