import assert from "node:assert/strict";
import { it } from "node:test";
import { NewerSchema, schemaVersion } from "../../../src/store/migrations.ts";
import { onDatabase, type StoreHarness, type TestDatabase } from "./harness.ts";
import { keep, kept, makeHome } from "./home.ts";

export function migrationCases(harness: StoreHarness): void {
  const onEmptyDatabase = (test: (database: TestDatabase) => Promise<void>) =>
    onDatabase(harness, test, { isEmpty: true });

  it("is created once, and unchanged when the store is opened again", () =>
    onEmptyDatabase(async (database) => {
      const first = await database.open();
      const home = await makeHome(first);
      await first.close();
      const again = await database.open();
      assert.equal((await again.read((tx) => tx.users.byId(home.userId)))?.name, "Ada");
      const steps = await database.sql<{ step: number }>("SELECT step FROM schema_steps ORDER BY step");
      assert.deepEqual(
        steps.map(({ step }) => step),
        Array.from({ length: schemaVersion }, (_, i) => i + 1),
      );
    }));

  it("of a later version is refused with a sentence, and not changed", () =>
    onEmptyDatabase(async (database) => {
      await (await database.open()).close();
      await database.sql(`INSERT INTO schema_steps (step) VALUES (${schemaVersion + 7})`);
      await assert.rejects(database.open(), (error: Error) => {
        assert.ok(error instanceof NewerSchema);
        assert.equal(
          error.message,
          `The store has schema version ${schemaVersion + 7}, this Breezeway knows ${schemaVersion}. Start the version that made it, or a later one.`,
        );
        return true;
      });
      await database.sql(`DELETE FROM schema_steps WHERE step > ${schemaVersion}`);
      await (await database.open()).transaction(keep("works again"));
    }));

  it("is not left half created when a step fails", () =>
    onEmptyDatabase(async (database) => {
      // A table of the first step exists already, so the step fails.
      await database.sql("CREATE TABLE nodes (somebody_elses INTEGER)");
      const before = await tablesOf(harness, database);
      await assert.rejects(database.open(), /nodes/);
      assert.deepEqual(await tablesOf(harness, database), before);
      await database.sql("DROP TABLE nodes");
      const store = await database.open();
      await store.transaction(keep("made"));
      assert.ok(await kept(store, "made"));
    }));

  if (harness.kind === "postgres") {
    it("is created by one of several nodes that open a new database at once", () =>
      onEmptyDatabase(async (database) => {
        const stores = await Promise.all([database.open(), database.open(), database.open(), database.open()]);
        await Promise.all(stores.map((store, i) => store.transaction(keep(`by node ${i}`))));
        assert.ok(await kept(stores[0]!, "by node 3"));
      }));
  }
}

async function tablesOf(harness: StoreHarness, database: TestDatabase): Promise<readonly unknown[]> {
  return database.sql(
    harness.kind === "sqlite"
      ? "SELECT name FROM sqlite_schema ORDER BY name"
      : "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname",
  );
}
