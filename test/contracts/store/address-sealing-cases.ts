import assert from "node:assert/strict";
import { it } from "node:test";
import { AddressSealing } from "../../../src/events/webhooks/address-sealing.ts";
import type { NodeId } from "../../../src/model/ids.ts";
import { compactThingStep, sealedAddressStep } from "../../../src/store/migrations.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { onStore, type StoreHarness, type TestDatabase } from "./harness.ts";
import { makeTenant, makeWebhook } from "./made-webhook.ts";

const secretUrl = "https://a.example/secret-path";

export function addressSealingCases(harness: StoreHarness): void {
  it("are sealed as soon as no node of the previous version is left", { timeout: 60_000 }, () =>
    onStore(harness, async (store, database) => {
      const tenant = { id: await makeTenant(store, "a"), name: "a" };
      for (let i = 0; i < 120; i++) await makeWebhook(store, tenant, `wh_${i}`, secretUrl);
      if (store.isShared) await database.sql(`INSERT INTO nodes (id, beat_ms) VALUES ('old', 1)`);
      await store.transaction((tx) => tx.nodes.beat("new" as NodeId));
      const made = () =>
        new AddressSealing({
          store,
          runtime: { ...manualRuntime(), after: soon },
          seal: (address, id) => `sealed ${id} ${address}`,
        });
      const sealing = made();
      await sealing.round();
      if (store.isShared) {
        const before = await oldestVersion(database);
        assert.deepEqual([sealing.isOn, await plainLeft(store)], [false, 120]);
        await database.sql("DELETE FROM nodes WHERE id = 'old'");
        await sealing.round();
        assert.ok((await oldestVersion(database)) > before);
        assert.deepEqual([sealing.isOn, await plainLeft(store)], [false, 120]);
        await sealing.round();
      }
      assert.equal(sealing.isOn, true);
      const rows = await database.sql<{ url: string; sealed_url: string }>("SELECT url, sealed_url FROM webhooks");
      assert.ok(rows.every(({ url, sealed_url }) => url === "" && sealed_url.endsWith(secretUrl)));
      assert.equal(await oldestVersion(database), store.isShared ? sealedAddressStep : compactThingStep);

      const next = made();
      await next.round();
      assert.equal(next.isOn, true, "a later start needs no second round");
    }),
  );
}

/** A timer without delay. */
function soon(_delayMs: number, act: () => void): () => void {
  const timer = setImmediate(act);
  return () => clearImmediate(timer);
}

async function plainLeft(store: OpenStore): Promise<number> {
  return (await store.read((tx) => tx.webhooks.plainAddresses(1_000))).length;
}

async function oldestVersion(database: TestDatabase): Promise<number> {
  const rows = await database.sql<{ oldest: number }>(
    "SELECT oldest FROM schema_reach WHERE step = (SELECT MAX(step) FROM schema_reach)",
  );
  return Number(rows[0]?.oldest);
}
