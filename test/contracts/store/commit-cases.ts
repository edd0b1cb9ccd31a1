import assert from "node:assert/strict";
import { it } from "node:test";
import { chainLimits, commitOn, type DeviceCommit } from "../../../src/devices/commit.ts";
import type { Cause } from "../../../src/model/cause.ts";
import { NotFound } from "../../../src/model/errors.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { crossing } from "./crossing-alert-cases.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, silent } from "./home.ts";

export function commitCases(harness: StoreHarness): void {
  it("of the ecosystem writes nothing when nothing changed; a client's equal value gets a new time", () =>
    onStore(harness, async (store) => {
      const { userId, devices, byClient } = await makeHome(store);
      const committed: DeviceCommit[] = [];
      const commit = commitOn({
        store,
        reactions: [],
        committed: (commits) => committed.push(...commits),
        report: silent,
      });
      const write = (cause: Cause, value: string | null) =>
        commit({ userId, cause, updates: [{ deviceId: devices[0]!, changes: [{ key: "colour", value }] }] });
      const before = () =>
        store.read(async (tx) => ({
          rows: await tx.attributes.all(userId, devices[0]!),
          device: await tx.devices.find(userId, devices[0]!),
          log: await tx.log.ofDevice(userId, devices[0]!),
        }));

      const [first] = await write({ by: "ecosystem" }, "red");
      assert.equal(first?.previousTimeMs, 0);
      const settled = await before();
      assert.equal(settled.device?.lastTimeMs, first?.timeMs);
      assert.deepEqual(await write({ by: "ecosystem" }, "red"), []);
      assert.deepEqual(await before(), settled);
      assert.equal(committed.length, 1);

      const [again] = await write(byClient, "red");
      assert.ok(again!.timeMs > first!.timeMs);
      assert.equal((await before()).log.length, 2);
      assert.deepEqual(again?.changes, [{ key: "colour", value: "red", before: "red" }]);
      assert.deepEqual(await write({ by: "ecosystem" }, null).then(([erased]) => erased?.changes[0]?.before), "red");
    }));

  it("is one change when two equal ones run concurrently", () =>
    onStore(harness, async (store) => {
      const { userId, devices } = await makeHome(store);
      const commit = commitOn({ store, reactions: [], committed: () => {}, report: silent });
      const changes = [{ key: 1, value: "emergency" }];
      const request = { userId, cause: { by: "ecosystem" }, updates: [{ deviceId: devices[0]!, changes }] } as const;
      const commits = await Promise.all(Array.from({ length: 8 }, () => commit(request)));
      assert.equal(commits.flat().length, 1);
    }));

  it("is atomic over devices, and refuses a device of another user", () =>
    onStore(harness, async (store) => {
      const ada = await makeHome(store, { name: "Ada" });
      const bob = await makeHome(store, { name: "Bob" });
      const commit = commitOn({ store, reactions: [], committed: () => assert.fail("told"), report: silent });
      const updates = [...ada.devices, ...bob.devices].map((deviceId) => ({
        deviceId,
        changes: [{ key: "x", value: "1" }],
      }));
      await assert.rejects(commit({ userId: ada.userId, cause: ada.byClient, updates }), NotFound);
      await assert.rejects(commit({ userId: 9_999 as UserId, cause: ada.byClient, updates }), NotFound);
      assert.deepEqual(await store.read((tx) => tx.log.tail(logStart, 10)), []);
      assert.deepEqual(await store.read((tx) => tx.attributes.all(ada.userId, ada.devices[0]!)), []);
    }));

  it("computes its updates under the lock, and may create devices", () =>
    onStore(harness, async (store) => {
      const { userId, byClient } = await makeHome(store, { devices: 0 });
      const commit = commitOn({ store, reactions: [], committed: () => {}, report: silent });
      const add = (name: string, isBad = false) =>
        commit({
          userId,
          cause: byClient,
          updates: async (tx) => {
            const deviceId = await tx.devices.add({ userId, typeName: "lamp", name, isVirtual: false });
            if (isBad) throw new Error("a mistake");
            return [{ deviceId, changes: [{ key: "name", value: name }] }];
          },
        });
      await assert.rejects(add("bad", true), /a mistake/);
      const [made] = await add("good");
      assert.deepEqual(
        (await store.read((tx) => tx.devices.ofUser(userId))).map(({ id, name, lastTimeMs }) => ({
          id,
          name,
          lastTimeMs,
        })),
        [{ id: made!.deviceId, name: "good", lastTimeMs: made!.timeMs }],
      );
    }));

  it("stops a chain of reactions at its limit", () =>
    onStore(harness, async (store) => {
      const { userId, devices, byClient } = await makeHome(store, { devices: 2 });
      const reactions = [crossing(devices[0]!, devices[1]!, Number.POSITIVE_INFINITY)];
      const commit = commitOn({ store, reactions, committed: () => {}, report: silent });
      const changes = [{ key: "count", value: "go" }];
      const commits = await commit({ userId, cause: byClient, updates: [{ deviceId: devices[0]!, changes }] });
      assert.equal(commits.length, 1 + chainLimits.hops);
    }));
}
