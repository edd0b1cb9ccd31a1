import assert from "node:assert/strict";
import { it } from "node:test";
import type { NodeId, TenantId } from "../../../src/model/ids.ts";
import { scopeStep, sealedAddressStep, thingStep } from "../../../src/store/migrations.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { linkOf, makeHome, node } from "./home.ts";
import { makeTenant, makeWebhook } from "./made-webhook.ts";

export function tenantAndNodeCases(harness: StoreHarness): void {
  it("remove a tenant without users and clients, and no other", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      const ofUser = (await store.read((tx) => tx.users.byId(userId)))!.tenantId as TenantId;
      const ofClient = await makeTenant(store, "with a client");
      const empty = (await store.transaction((tx) => tx.tenants.add({ name: "empty" })))!;
      const removed = [];
      for (const id of [ofUser, ofClient, empty, empty]) {
        removed.push(await store.transaction((tx) => tx.tenants.remove(id)));
      }
      assert.deepEqual(removed, [false, false, true, false]);
      const left = await store.read((tx) => tx.tenants.list());
      assert.deepEqual(
        left.map(({ id }) => id),
        [ofUser, ofClient],
      );
    }));

  it("know which listed nodes are of an older version", () =>
    onStore(harness, async (store, database) => {
      const known = () =>
        store.read(async (tx) => ({
          readSealedAddresses: await tx.nodes.doAllKnow(sealedAddressStep),
          enforceScopes: await tx.nodes.doAllEnforceScopes(),
          withoutThings: (await tx.nodes.withoutThings()) as readonly NodeId[],
        }));
      await store.transaction((tx) => tx.nodes.beat(node("new")));
      assert.deepEqual(await known(), { readSealedAddresses: true, enforceScopes: true, withoutThings: [] });
      const beat = (version: number | null) =>
        database.sql(
          `INSERT INTO nodes (id, beat_ms, schema_version) VALUES ('old', 1, ${version ?? "NULL"})
           ON CONFLICT (id) DO UPDATE SET schema_version = excluded.schema_version`,
        );
      for (const version of [null, sealedAddressStep - 1, sealedAddressStep, scopeStep, thingStep - 1, thingStep]) {
        await beat(version);
        assert.deepEqual(
          await known(),
          {
            readSealedAddresses: (version ?? 0) >= sealedAddressStep,
            enforceScopes: (version ?? 0) >= scopeStep,
            withoutThings: (version ?? 0) >= thingStep ? [] : ["old"],
          },
          `version ${version}`,
        );
      }
    }));

  it("know whether versions before a step of the schema were refused already", () =>
    onStore(harness, async (store) => {
      const refuse = (step: number) => store.transaction((tx) => tx.nodes.refuseOlder(step));
      assert.deepEqual(
        [await refuse(thingStep), await refuse(thingStep), await refuse(thingStep - 1), await refuse(thingStep + 1)],
        [false, true, true, false],
      );
    }));

  it("mark one link of a user as being renewed, and no other", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const row = linkOf(home, node("A"));
      const [first, second] = home.devices as [typeof row.deviceId, typeof row.deviceId];
      await store.transaction(async (tx) => {
        await tx.links.add({ ...row, deviceId: first });
        await tx.links.add({ ...row, deviceId: second, ecosystem: "another" });
        await tx.links.setRenewing(row.userId, second, 7);
      });
      const links = await store.read((tx) => tx.links.ofUser(row.userId));
      assert.deepEqual(
        links.map(({ deviceId, renewingMs }) => [deviceId, renewingMs]),
        [
          [first, null],
          [second, 7],
        ],
      );
    }));

  it("know whether any webhook asked for things", () =>
    onStore(harness, async (store) => {
      const doAny = () => store.read((tx) => tx.webhooks.doAnyHearThings());
      const tenant = { id: await makeTenant(store, "Acme"), name: "Acme" };
      await makeWebhook(store, tenant, "plain");
      assert.equal(await doAny(), false);
      await makeWebhook(store, tenant, "hears", "https://hears.example/", true);
      assert.equal(await doAny(), true);
    }));
}
