import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { removeDevice } from "../../src/provisioning/operator-devices.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { harnesses, limitedHome, namesFrom } from "./limited-home.ts";

const most = limits.attributesPerDevice;
const tooManyNames = { code: "limit_reached", limit: "attributesPerDevice" };
const tooManyBytes = { code: "limit_reached", limit: "attributeBytesPerUser" };

for (const { harness, skip } of harnesses) {
  describe(`the limit of a device's attributes on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    const on = (test: (home: Awaited<ReturnType<typeof limitedHome>>) => Promise<void>) =>
      onStore(harness, async (store) => test(await limitedHome(store)));

    it("refuses one name too many, all of the write or nothing, and other devices have their own", () =>
      on(async ({ devices: [lamp, other], write, rowsOf }) => {
        await write(lamp!, namesFrom(0, most - 1));
        const before = await rowsOf(lamp!);
        await assert.rejects(write(lamp!, { "name 0": "changed", new: "1", newer: "2" }), tooManyNames);
        assert.deepEqual(await rowsOf(lamp!), before);
        await write(lamp!, { new: "1" });
        await assert.rejects(write(lamp!, { newer: "2" }), tooManyNames);
        await write(other!, { newer: "2" });
      }));

    it("counts erased names, and passes a write that adds no name", () =>
      on(async ({ devices: [lamp], write, rowsOf }) => {
        await write(lamp!, namesFrom(0, most));
        await write(lamp!, namesFrom(0, most, null));
        await assert.rejects(write(lamp!, { new: "1" }), tooManyNames);
        await write(lamp!, { "name 7": "again" });
        assert.deepEqual(
          (await rowsOf(lamp!)).filter(({ value }) => value !== null).map(({ key }) => key),
          ["name 7"],
        );
      }));

    it("refuses a write of more names than a device may have before it looks any of them up", () =>
      onStore(harness, async (store) => {
        const { userId, byClient, devices } = await limitedHome(store);
        let lookedUp = 0;
        const countLooks = (tx: Transaction) =>
          new Proxy(tx, {
            get(target, name: keyof Transaction) {
              if (name === "attributes") lookedUp += 1;
              return target[name];
            },
          });
        const watched: Store<Transaction> = {
          isShared: store.isShared,
          read: (body) => store.read(body),
          transaction: (body, priority) => store.transaction((tx) => body(countLooks(tx)), priority),
        };
        const commit = commitOn({ store: watched, reactions: [], committed: () => undefined, report: silent });
        const changes = Object.entries(namesFrom(0, most + 1)).map(([key, value]) => ({ key, value }));
        const updates = [{ deviceId: devices[0]!, changes }];
        await assert.rejects(commit({ userId, cause: byClient, updates }), tooManyNames);
        assert.equal(lookedUp, 0);
      }));

    it("leaves a device that had more before readable, writable and erasable", () =>
      on(async ({ devices: [lamp], write, writeUncounted, rowsOf }) => {
        await writeUncounted(lamp!, namesFrom(0, most + 200));
        await write(lamp!, { "name 3": "shorter" });
        await assert.rejects(write(lamp!, { new: "1" }), tooManyNames);
        await write(lamp!, namesFrom(0, most + 100, "in one write"));
        await write(lamp!, namesFrom(0, most + 200, null));
        assert.equal((await rowsOf(lamp!)).filter(({ value }) => value === null).length, most + 200);
      }));

    it("holds for a device that has too many names to count them all", () =>
      on(async ({ devices: [lamp], write, writeUncounted }) => {
        await writeUncounted(lamp!, namesFrom(0, 10_500));
        await assert.rejects(write(lamp!, { new: "1" }), tooManyNames);
        await write(lamp!, { "name 3": null, "name 4": "longer than before" });
      }));

    it("refuses bytes beyond those of a user, over all devices, and nothing that doesn't add any", () =>
      on(async ({ devices: [lamp, other], write, bytesIn }) => {
        const large = "x".repeat(8_000);
        await write(lamp!, namesFrom(0, 1_000, large));
        await write(other!, namesFrom(0, 40, large));
        await assert.rejects(write(other!, namesFrom(40, 9, large)), tooManyBytes);
        await write(other!, { "name 0": "short", "name 1": large.replaceAll("x", "y") });
        await write(other!, { "name 40": "x".repeat(7_000) });
        const all = (await bytesIn(lamp!)) + (await bytesIn(other!));
        assert.ok(all <= limits.attributeBytesPerUser && all > limits.attributeBytesPerUser - 100_000, `${all}`);
        await write(lamp!, namesFrom(0, 1_000, null));
        await write(other!, namesFrom(40, 9, large));
      }));

    it("counts again after an uncounted write, also when the next write adds nothing", () =>
      on(async ({ devices: [lamp], write, writeUncounted, counted, bytesIn }) => {
        await write(lamp!, namesFrom(0, 10));
        await writeUncounted(lamp!, namesFrom(10, 10));
        await write(lamp!, { "name 0": "y" });
        const { names, bytes } = await counted(lamp!);
        assert.deepEqual({ names, bytes }, { names: 20, bytes: await bytesIn(lamp!) });
      }));

    it("has counters that equal what is stored, whatever is written, erased, removed or left uncounted", (t) =>
      onStore(harness, async (store) => {
        const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
        t.diagnostic(`SEED=${seed}`);
        const random = numbersFrom(seed);
        const pick = (below: number) => Math.floor(random() * below);
        const { devices, userId, write, writeUncounted, counted, bytesIn, rowsOf } = await limitedHome(store, {
          devices: 3,
        });
        const left = [...devices] as DeviceId[];
        const texts = ["", "on", "größer", "🏠🏠", "x".repeat(500)];
        for (let step = 0; step < 60; step++) {
          const deviceId = left[pick(left.length)]!;
          const values: Record<string, string | null> = {};
          for (let i = pick(6); i >= 0; i--) values[`näme ${pick(12)}`] = texts[pick(texts.length)]! || null;
          if (random() < 0.15) await writeUncounted(deviceId, values);
          else await write(deviceId, values);
          if (random() < 0.03 && left.length > 1) {
            await removeDevice(store, { forget: () => undefined }, userId, left.pop()!);
          }
          if (random() < 0.5) continue;
          let ofUser = 0;
          for (const one of left) {
            const usage = await counted(one);
            assert.equal(usage.names, (await rowsOf(one)).length, `names of ${one} after step ${step}`);
            assert.equal(usage.bytes, await bytesIn(one), `bytes of ${one} after step ${step}`);
            ofUser += usage.bytes;
          }
          assert.equal((await counted(left[0]!)).ofUser, ofUser);
        }
      }));
  });

  describe(`the name of an erased attribute on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("stays for 30 days and is then removed in batches, so that there is room again", () =>
      onStore(harness, async (store, place) => {
        const { devices, userId, write, rowsOf, counted, bytesIn, erasedNames, states } = await limitedHome(store);
        const lamp = devices[0]!;
        await write(lamp, namesFrom(0, most));
        await write(lamp, namesFrom(0, most - 10, null));
        await place.jumpClock(20 * 86_400_000);
        await write(lamp, { "name 995": null });
        await place.jumpClock(9 * 86_400_000);
        assert.equal(await erasedNames.sweep(), 0);
        await states.get(userId, lamp);
        await place.jumpClock(2 * 86_400_000);
        assert.equal(await erasedNames.sweep(), most - 10);
        assert.equal(await erasedNames.sweep(), 0);
        const rows = await rowsOf(lamp);
        assert.deepEqual(
          rows.filter(({ value }) => value === null).map(({ key }) => key),
          ["name 995"],
        );
        const { names, bytes } = await counted(lamp);
        assert.deepEqual({ names, bytes }, { names: 10, bytes: await bytesIn(lamp) });
        assert.equal((await states.get(userId, lamp))?.attributes.size, 10);
        await write(lamp, namesFrom(2_000, most - 10));
        await assert.rejects(write(lamp, { new: "1" }), tooManyNames);
        await place.jumpClock(20 * 86_400_000);
        assert.equal(await erasedNames.sweep(), 1);
        await write(lamp, { new: "1" });
      }));

    it("is removed from a device to which a node of an older version wrote, after its next write", () =>
      onStore(harness, async (store, place) => {
        const { devices, write, writeUncounted, erasedNames, rowsOf } = await limitedHome(store);
        const lamp = devices[0]!;
        await writeUncounted(lamp, namesFrom(0, 5, null));
        await place.jumpClock(31 * 86_400_000);
        assert.equal(await erasedNames.sweep(), 0);
        await write(lamp, { new: "1" });
        assert.equal(await erasedNames.sweep(), 5);
        assert.deepEqual(
          (await rowsOf(lamp)).map(({ key }) => key),
          ["new"],
        );
      }));
  });
}
