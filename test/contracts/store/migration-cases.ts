import assert from "node:assert/strict";
import { it } from "node:test";
import { NewerSchema, schemaVersion } from "../../../src/store/migrations.ts";
import { onPlace, type Place, type StoreHarness } from "./harness.ts";
import { keep, kept, makeHome } from "./home.ts";

export function migrationCases(harness: StoreHarness): void {
  const onEmptyPlace = (test: (place: Place) => Promise<void>) => onPlace(harness, test, { isEmpty: true });

  it("is created once, and unchanged when the store is opened again", () =>
    onEmptyPlace(async (place) => {
      const first = await place.open();
      const home = await makeHome(first);
      await first.close();
      const again = await place.open();
      assert.equal((await again.read((tx) => tx.users.byId(home.userId)))?.name, "Ada");
      const steps = await place.sql<{ step: number }>("SELECT step FROM schema_steps ORDER BY step");
      assert.deepEqual(
        steps.map(({ step }) => step),
        Array.from({ length: schemaVersion }, (_, i) => i + 1),
      );
    }));

  it("of a later version is refused with a sentence, and not changed", () =>
    onEmptyPlace(async (place) => {
      await (await place.open()).close();
      await place.sql(`INSERT INTO schema_steps (step) VALUES (${schemaVersion + 7})`);
      await assert.rejects(place.open(), (error: Error) => {
        assert.ok(error instanceof NewerSchema);
        assert.equal(
          error.message,
          `The store has schema version ${schemaVersion + 7}, this Breezeway knows ${schemaVersion}. Start the version that made it, or a later one.`,
        );
        return true;
      });
      await place.sql(`DELETE FROM schema_steps WHERE step > ${schemaVersion}`);
      await (await place.open()).transaction(keep("works again"));
    }));

  it("is not left half created when a step fails", () =>
    onEmptyPlace(async (place) => {
      // A table of the first step exists already, so the step fails.
      await place.sql("CREATE TABLE nodes (somebody_elses INTEGER)");
      const before = await tablesOf(harness, place);
      await assert.rejects(place.open(), /nodes/);
      assert.deepEqual(await tablesOf(harness, place), before);
      await place.sql("DROP TABLE nodes");
      const store = await place.open();
      await store.transaction(keep("made"));
      assert.ok(await kept(store, "made"));
    }));

  if (harness.kind === "postgres") {
    it("is created by one of several nodes that open a new database at once", () =>
      onEmptyPlace(async (place) => {
        const stores = await Promise.all([place.open(), place.open(), place.open(), place.open()]);
        await Promise.all(stores.map((store, i) => store.transaction(keep(`by node ${i}`))));
        assert.ok(await kept(stores[0]!, "by node 3"));
      }));
  }
}

async function tablesOf(harness: StoreHarness, place: Place): Promise<readonly unknown[]> {
  return place.sql(
    harness.kind === "sqlite"
      ? "SELECT name FROM sqlite_schema ORDER BY name"
      : "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname",
  );
}
