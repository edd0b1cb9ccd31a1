import assert from "node:assert/strict";
import { it } from "node:test";
import type { NodeId } from "../../../src/model/ids.ts";
import { ThingFormChoice } from "../../../src/nodes/thing-form.ts";
import { compactThingStep } from "../../../src/store/migrations.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { onStore, type StoreHarness } from "./harness.ts";

export function thingFormCases(harness: StoreHarness): void {
  it("is compact as soon as no node of an older version can read it", { timeout: 60_000 }, () =>
    onStore(harness, async (store, database) => {
      const oldest = async () =>
        (await database.sql<{ oldest: number }>("SELECT MAX(oldest) AS oldest FROM schema_reach"))[0]!.oldest;
      const waits: number[] = [];
      const made = () => {
        const after = (waitMs: number) => {
          waits.push(waitMs);
          return () => undefined;
        };
        return new ThingFormChoice({ store, runtime: { ...manualRuntime(), after } });
      };
      const choice = made();
      if (!store.isShared) {
        assert.deepEqual([choice.form, await oldest()], ["compact", compactThingStep]);
        return;
      }
      const older = compactThingStep - 1;
      await database.sql(`INSERT INTO nodes (id, beat_ms, schema_version) VALUES ('old', 1, ${older})`);
      await store.transaction((tx) => tx.nodes.beat("new" as NodeId));
      await choice.round();
      assert.equal(choice.form, "named");
      assert.ok((await oldest()) <= older, "older versions are welcome");
      await database.sql("DELETE FROM nodes WHERE id = 'old'");
      await choice.round();
      assert.deepEqual([choice.form, await oldest()], ["named", compactThingStep]);
      await choice.round();
      assert.equal(choice.form, "compact");
      assert.deepEqual(waits, [60_000, 15_000]);
      const next = made();
      await next.round();
      assert.equal(next.form, "compact", "a later start needs no second round");
    }),
  );
}
