import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId } from "../../../src/model/ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { plain } from "./home.ts";

const tenant = (id: number) => id as TenantId;
const hour = 3_600_000;

export function linkHourCases(harness: StoreHarness): void {
  it("keep the first count of an hour, for a time, and add up tenants", () =>
    onStore(harness, async (store) => {
      const keep = (hourMs: number, ...counts: readonly (readonly [number, string, number])[]) =>
        store.transaction((tx) =>
          tx.linkHours.keep(
            hourMs,
            counts.map(([id, state, links]) => ({ tenantId: tenant(id), state, links })),
          ),
        );
      assert.equal(await keep(hour, [1, "live", 4], [2, "live", 3], [2, "stale", 1]), true);
      assert.equal(await keep(hour, [1, "live", 9]), false);
      assert.equal(await keep(3 * hour), true);
      const sums = (sinceMs: number, ids?: readonly TenantId[]) =>
        store.read(async (tx) => (await tx.linkHours.sums(sinceMs, ids)).map(plain));
      assert.deepEqual(await sums(0), [
        { hourMs: hour, state: "live", links: 7 },
        { hourMs: hour, state: "stale", links: 1 },
      ]);
      assert.deepEqual(await sums(0, [tenant(1)]), [{ hourMs: hour, state: "live", links: 4 }]);
      assert.deepEqual([await sums(0, []), await sums(2 * hour)], [[], []]);
      const counted = (sinceMs: number) => store.read((tx) => tx.linkHours.counted(sinceMs));
      assert.deepEqual([await counted(0), await counted(2 * hour)], [[hour, 3 * hour], [3 * hour]]);
      const isCounted = (hourMs: number) => store.read((tx) => tx.linkHours.isCounted(hourMs));
      assert.deepEqual([await isCounted(hour), await isCounted(2 * hour)], [true, false]);
      await store.transaction((tx) => tx.linkHours.removeBefore(3 * hour));
      assert.deepEqual([await counted(0), await sums(0)], [[3 * hour], []]);
    }));

  it("end with their tenant", () =>
    onStore(harness, async (store) => {
      const id = await store.transaction(async (tx) => {
        const added = (await tx.tenants.add({ name: "Ending" }))!;
        await tx.linkHours.keep(hour, [{ tenantId: added, state: "live", links: 1 }]);
        return added;
      });
      await store.transaction((tx) => tx.tenants.remove(id));
      assert.deepEqual(await store.read((tx) => tx.linkHours.sums(0, [id])), []);
    }));
}
