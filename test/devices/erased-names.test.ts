import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErasedNames } from "../../src/devices/erased-names.ts";
import { removeHome } from "../../src/identity/removal.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { onStore, type TestDatabase } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { limitedHome, type Values } from "./limited-home.ts";
import { watchedStore } from "./watched-store.ts";

/** Two batches of names, in their order. The third batch finds that nothing follows. */
const numbers = Array.from({ length: 1_000 }, (_, i) => i);

function namesExcept(value: string | null, ...left: readonly number[]): Values {
  return Object.fromEntries(numbers.filter((i) => !left.includes(i)).map((i) => [nameOf(i), value]));
}

const nameOf = (number: number) => `name ${String(number).padStart(3, "0")}`;

/** A home, and sweeps in which each pause lasts as long as the test's `whilePausing` takes. */
async function sweptHome(store: OpenStore, place: TestDatabase) {
  const home = await limitedHome(store);
  const watched = watchedStore(store);
  const delays: number[] = [];
  const forgotten: DeviceId[] = [];
  const sweeper = (whilePausing: (pause: number) => Promise<void> = async () => undefined) =>
    new ErasedNames({
      store: watched,
      states: { forget: (deviceId) => forgotten.push(deviceId) },
      runtime: {
        nowMs: () => 0,
        elapsedMs: () => 0,
        random: () => 0,
        report: silent,
        after: (delayMs, act) => {
          delays.push(delayMs);
          void whilePausing(delays.length).then(act);
          return () => undefined;
        },
      },
    });
  const days = (count: number) => place.jumpClock(count * 86_400_000);
  const lamp = home.devices[0]!;
  const namesLeft = async () => (await home.rowsOf(lamp)).map(({ key }) => key);
  return { ...home, lamp, other: home.devices[1]!, watched, delays, forgotten, sweeper, days, namesLeft };
}

const on = (test: (home: Awaited<ReturnType<typeof sweptHome>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store, place) => test(await sweptHome(store, place)));

describe("a sweep of erased names", () => {
  it("pauses between its batches, which never delay other transactions", () =>
    on(async ({ lamp, write, days, sweeper, delays, watched }) => {
      await write(lamp, namesExcept(null));
      await days(31);
      assert.equal(await sweeper().sweep(), 1_000);
      assert.deepEqual(delays, [50, 50]);
      assert.deepEqual(watched.priorities, [{ background: true }, { background: true }, { background: true }]);
    }));

  it("comes back for the oldest name that it had to leave", () =>
    on(async ({ lamp, write, days, sweeper, namesLeft }) => {
      await write(lamp, namesExcept(null, 200, 700));
      await days(10);
      await write(lamp, { [nameOf(700)]: null });
      await days(10);
      await write(lamp, { [nameOf(200)]: null });
      await days(11);
      assert.equal(await sweeper().sweep(), 998);
      await days(10);
      assert.equal(await sweeper().sweep(), 1);
      assert.deepEqual(await namesLeft(), [nameOf(200)]);
    }));

  it("comes back for a name that was erased between two batches", () =>
    on(async ({ lamp, write, days, sweeper, namesLeft }) => {
      await write(lamp, namesExcept("x"));
      await write(lamp, namesExcept(null, 100));
      await days(31);
      const whilePausing = async (pause: number) => {
        if (pause > 1) return;
        await write(lamp, { [nameOf(100)]: null });
        await days(5);
      };
      assert.equal(await sweeper(whilePausing).sweep(), 999);
      await days(26);
      assert.equal(await sweeper().sweep(), 1);
      assert.deepEqual(await namesLeft(), []);
    }));

  it("runs every ten minutes; one that is stopped leaves its rest to the next", () =>
    on(async ({ lamp, write, days, sweeper, delays, namesLeft }) => {
      await write(lamp, namesExcept(null));
      await days(31);
      const stopped = Promise.withResolvers<void>();
      const first = sweeper(async (pause) => {
        if (pause === 2) stopped.resolve(first.stop());
      });
      first.start();
      await stopped.promise;
      assert.deepEqual(delays, [600_000, 50]);
      assert.equal((await namesLeft()).length, 500);
      assert.equal(await sweeper().sweep(), 500);
    }));

  it("drops a device from the cache only when it removed a name, and then looks at neither again", () =>
    on(async ({ lamp, other, write, days, sweeper, forgotten, watched }) => {
      for (const deviceId of [lamp, other]) await write(deviceId, { colour: null });
      await days(1);
      await write(other, { colour: "red" });
      await days(30);
      assert.equal(await sweeper().sweep(), 1);
      assert.deepEqual(forgotten, [lamp]);
      const { length } = watched.statements;
      await days(60);
      assert.equal(await sweeper().sweep(), 0);
      assert.equal(watched.statements.length, length);
    }));

  it("passes over a user who was removed after the sweep had found a device of theirs", () =>
    onStore(sqliteHarness, async (store, place) => {
      const { lamp, userId, write, days, sweeper, watched } = await sweptHome(store, place);
      await write(lamp, { colour: null });
      await days(31);
      watched.read = async (body) => {
        const found = await store.read(body);
        await store.transaction((tx) => removeHome(tx, userId));
        return found;
      };
      assert.equal(await sweeper().sweep(), 0);
    }));
});
