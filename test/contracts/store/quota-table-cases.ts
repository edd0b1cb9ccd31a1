import assert from "node:assert/strict";
import { it } from "node:test";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeTenant } from "./made-webhook.ts";

export function quotaTableCases(harness: StoreHarness): void {
  it("keep quotas of tenants and clients, and remove them with their owner", () =>
    onStore(harness, async (store) => {
      const tenantId = await makeTenant(store, "with quotas");
      const clientId = (await store.read((tx) => tx.clients.list(tenantId)))[0]!.id;
      const ofTenant = { tenantId, clientId: null };
      const ofClient = { tenantId, clientId };
      await store.transaction(async (tx) => {
        await tx.quotas.set({ ...ofTenant, kind: "openStreams", value: 5 });
        await tx.quotas.set({ ...ofClient, kind: "openStreams", value: 6 });
        await tx.quotas.set({ ...ofClient, kind: "openStreams", value: 7 });
        await tx.quotas.set({ ...ofClient, kind: "requestsPerMinute", value: 100_000_000 });
      });
      const all = async () => (await store.read((tx) => tx.quotas.all())).map((row) => ({ ...row }));
      const first = { ...ofTenant, kind: "openStreams", value: 5 };
      const second = { ...ofClient, kind: "openStreams", value: 7 };
      const third = { ...ofClient, kind: "requestsPerMinute", value: 100_000_000 };
      assert.deepEqual(await all(), [first, second, third]);
      const own = await store.read((tx) => tx.quotas.of(ofTenant));
      assert.deepEqual(
        own.map(({ value }) => value),
        [5],
      );
      await store.transaction((tx) => tx.quotas.reset(ofClient, "openStreams"));
      assert.deepEqual(await all(), [first, third]);
      await store.transaction((tx) => tx.clients.remove(clientId));
      assert.deepEqual(await all(), [first]);
      assert.equal(await store.transaction((tx) => tx.tenants.remove(tenantId)), true);
      assert.deepEqual(await all(), []);
    }));
}
