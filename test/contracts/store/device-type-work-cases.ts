import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceId, TenantId } from "../../../src/model/ids.ts";
import { lastHeardMs } from "../../../src/store/tables/devices.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome } from "./home.ts";

/** Work on all devices of a type. */
export function deviceTypeWorkCases(harness: StoreHarness): void {
  it("keeps the work on a type until it has ended, for one node at a time", () =>
    onStore(harness, async (store) => {
      const { tenantId } = await makeHome(store);
      const work = async () => (await store.read((tx) => tx.deviceTypeWork.due(Number.MAX_SAFE_INTEGER, 9)))[0];
      const begin = (what: "added" | "changed" | "gone") =>
        store.transaction((tx) => tx.deviceTypeWork.begin(tenantId, 7, what));
      await begin("added");
      const first = (await work())!;
      assert.deepEqual([first.tenantId, first.typeId, first.what, first.afterId], [tenantId, 7, "added", 0]);
      const next = { what: "added", afterId: 5, dueMs: first.dueMs + 1 } as const;
      assert.equal(await store.transaction((tx) => tx.deviceTypeWork.advance(first, next)), true);
      assert.equal(await store.transaction((tx) => tx.deviceTypeWork.advance(first, next)), false);
      assert.equal(await store.transaction((tx) => tx.deviceTypeWork.end(first)), false);
      assert.deepEqual(await store.read((tx) => tx.deviceTypeWork.due(first.dueMs, 9)), []);
      await begin("changed");
      assert.deepEqual([(await work())!.what, (await work())!.afterId], ["added", 0], "nobody knows the things yet");
      await begin("gone");
      assert.equal((await work())!.what, "gone");
      const last = (await work())!;
      assert.equal(await store.transaction((tx) => tx.deviceTypeWork.end(last)), true);
      assert.equal(await work(), undefined);
    }));

  it("finds types whose map has no work, and devices that are silent and not logged as silent", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId, devices } = await makeHome(store, { devices: 5 });
      const [early, late, told, never] = devices as [DeviceId, DeviceId, DeviceId, DeviceId];
      await store.transaction(async (tx) => {
        await tx.deviceTypeMaps.put(tenantId, "lamp", "{}");
        await tx.deviceTypeWork.beginMissing();
        await tx.deviceTypeWork.beginMissing();
        await tx.devices.setLastTime(userId, early, 10);
        await tx.devices.setLastTime(userId, late, 20);
        await tx.devices.setLastTime(userId, told, 10);
        await tx.devices.setSilent(tenantId, [told]);
        await tx.devices.setSilent((tenantId + 1) as TenantId, [early]);
      });
      const [row, ...more] = await store.read((tx) => tx.deviceTypeWork.due(Number.MAX_SAFE_INTEGER, 9));
      assert.deepEqual([row!.what, row!.afterId, more], [null, 0, []]);
      await store.read(async (tx) => {
        const silent = async (afterId: number, beforeMs: number, examined: number) => {
          const { devices: found, lastId } = await tx.deviceTypeWork.silent({ ...row!, afterId }, beforeMs, examined);
          return [found.map(({ id }) => id), lastId];
        };
        assert.deepEqual(await silent(0, 20, 9), [[early], devices[4]]);
        assert.deepEqual(await silent(0, 21, 9), [[early, late], devices[4]]);
        assert.deepEqual(await silent(0, 21, 1), [[early], early]);
        assert.deepEqual(await silent(early, 21, 3), [[late], never]);
        assert.deepEqual(await silent(devices[4]!, 21, 9), [[], undefined]);
        const before = await tx.deviceTypeWork.devices({ ...row!, begunMs: 0 }, 9);
        assert.deepEqual(before, [], "these devices are younger than the map");
        const some = await tx.deviceTypeWork.devices({ ...row!, afterId: late }, 2);
        assert.deepEqual(
          some.map(({ id, userId: owner }) => [id, owner]),
          [
            [told, userId],
            [never, userId],
          ],
        );
      });
      await store.transaction((tx) => tx.devices.setLastTime(userId, told, 11));
      const again = await store.read((tx) => tx.deviceTypeWork.silent(row!, 20, 9));
      assert.deepEqual(
        again.devices.map(({ id }) => id),
        [early, told],
        "it has written since",
      );
      await store.transaction(async (tx) => {
        await tx.devices.setSilent(tenantId, [told]);
        for (const [id, heardMs] of [
          [early, 10],
          [told, 11],
          [never, 0],
        ] as const) {
          await tx.devices.setLastTime(userId, id, 15);
          await tx.devices.setDescribed(userId, id, heardMs);
        }
        await tx.devices.setLastTime(userId, late, 12);
        await tx.devices.setDescribed(userId, late, 5);
        await tx.devices.setLastTime(userId, late, 13);
      });
      const described = await store.read((tx) => tx.deviceTypeWork.silent(row!, 13, 9));
      assert.deepEqual(
        described.devices.map(({ id }) => id),
        [early],
        "a description is no write, and the write after it counts",
      );
      const rows = await store.read((tx) => tx.mappedDevices.some(userId, [early, late]));
      assert.deepEqual(rows.map(lastHeardMs), [10, 13]);
    }));
}
