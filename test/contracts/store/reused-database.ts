import { after } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { StoreHarness, TestDatabase } from "./harness.ts";

/**
 * The harness for cases that change only rows: on PostgreSQL they take turns on one database and one open store, whose
 * rows, ids and clock are reset after each case. A new database for each case takes ten times the CPU time. Call it
 * inside the suite of the cases.
 */
export function reusingOneDatabase(harness: StoreHarness): StoreHarness {
  if (harness.kind !== "postgres") return harness;
  let reused: Promise<Reused> | undefined;
  after(async () => (await reused)?.database.remove());
  return {
    ...harness,
    async fresh(options) {
      if (options !== undefined) return harness.fresh(options);
      reused ??= reuse(await harness.fresh());
      const { database, store, reset } = await reused;
      const further: OpenStore[] = [];
      let isOpen = false;
      return {
        ...database,
        async open() {
          if (!isOpen) {
            isOpen = true;
            return store;
          }
          const another = await database.open();
          further.push(another);
          return another;
        },
        async remove() {
          for (const another of further) await another.close();
          await reset();
        },
      };
    },
  };
}

interface Reused {
  readonly database: TestDatabase;
  readonly store: OpenStore;
  readonly reset: () => Promise<void>;
}

async function reuse(database: TestDatabase): Promise<Reused> {
  const store = await database.open();
  const tables = await database.sql<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  await database.sql("CREATE SCHEMA first_rows");
  const restored: string[] = [];
  for (const { name } of tables) {
    await database.sql(`CREATE TABLE first_rows.${name} AS TABLE ${name}`);
    restored.push(`DELETE FROM ${name}`);
    const isFilled = (await database.sql(`SELECT FROM ${name} LIMIT 1`)).length > 0;
    if (isFilled) restored.push(`INSERT INTO ${name} OVERRIDING SYSTEM VALUE TABLE first_rows.${name}`);
  }
  const restarted = "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence";
  // Foreign keys are not checked: the tables are emptied in any order.
  const statements = [
    "SET session_replication_role = replica",
    ...restored,
    restarted,
    "RESET session_replication_role",
  ];
  return { database, store, reset: async () => void (await database.sql(statements.join(";\n"))) };
}
