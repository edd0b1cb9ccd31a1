import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { split, splitTable } from "../../bench/distribution.ts";
import { measured, scalingTables, simulate, sizing, usual } from "../../bench/scaling-model.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { isAll } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");

const skip = missingPostgres() ?? false;

describe("docs/scaling.md", () => {
  it("has the figures that the model computes, and its input costs", () => {
    assert.ok(page.includes(`${scalingTables()}\n`), `the tables have changed:\n${scalingTables()}`);
    for (const [name, cost] of Object.entries(measured)) {
      assert.ok(page.includes(`| ${cost.toLocaleString("en-US")} |`), `${name}: ${cost}`);
    }
  });

  it("names the distribution column of every table", { skip }, async (t) => {
    const { tables, keys } = await uniqueKeys(t);
    assert.deepEqual(Object.keys(split).sort(), tables);
    const expected = splitTable((table) => primary(keys, table));
    assert.ok(page.includes(`${expected}\n`), `the table has changed:\n${expected}`);
  });

  it("is right that every unique key of a split table contains its distribution column, except a user's name", {
    skip,
  }, async (t) => {
    const { keys } = await uniqueKeys(t);
    for (const [table, { by }] of Object.entries(split)) {
      if (by === null) continue;
      assert.equal(primary(keys, table)[0], by, table);
      // A unique key without this column can't be enforced over several databases.
      const others = keys.filter((key) => key.table === table && !key.columns.includes(by));
      assert.deepEqual(others, table === "users" ? [{ table, columns: ["tenant_id", "name"], isPrimary: false }] : []);
    }
  });
});

interface UniqueKey {
  readonly table: string;
  readonly columns: readonly string[];
  readonly isPrimary: boolean;
}

/** The tables of a new PostgreSQL store, and the columns of their unique keys. */
async function uniqueKeys(t: TestContext): Promise<{ tables: readonly string[]; keys: readonly UniqueKey[] }> {
  const url = await (await sharedCluster()).createDatabase();
  await (await openPostgres({ url })).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const ours = "c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace";
  const tables = await client.query<{ name: string }>(`SELECT c.relname AS name FROM pg_class c WHERE ${ours}`);
  const keys = await client.query<UniqueKey>(
    `SELECT c.relname AS table, i.indisprimary AS "isPrimary",
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS part (number, place)
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = part.number ORDER BY part.place) AS columns
     FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique WHERE ${ours}`,
  );
  return { tables: tables.rows.map(({ name }) => name).sort(), keys: keys.rows };
}

function primary(keys: readonly UniqueKey[], table: string): readonly string[] {
  return keys.find((key) => key.table === table && key.isPrimary)?.columns ?? assert.fail(`${table} has no key`);
}

describe("the capacity model", () => {
  it("exceeds neither the accounts of a node nor the cores of a database", () => {
    for (const accounts of [1, 1_000, 250_000, 7_000_000]) {
      for (const changesAnHour of [0.1, 6, 60, 600]) {
        const plan = { ...usual, accounts, changesAnHour };
        const { deployments, accountsOfDeployment, nodesOfDeployment, accountsOfNode, databaseCoresOfDeployment } =
          sizing(plan);
        assert.ok(deployments * accountsOfDeployment >= accounts);
        assert.ok(accountsOfNode <= usual.mostOfNode && nodesOfDeployment >= 2);
        assert.ok(databaseCoresOfDeployment <= usual.databaseCores);
      }
    }
  });

  it("agrees with its simulation: the nodes keep up in the busiest minutes, even with a node missing", () => {
    for (const accounts of isAll ? [100_000, 1_000_000, 100_000_000] : [1_000_000]) {
      for (const seed of isAll ? [1, 2, 3] : [1]) {
        const { node, database, nodeWithOneMissing } = simulate({ ...usual, accounts }, seed);
        assert.ok(database.mean <= usual.fullness * 1.05, `${database.mean}`);
        assert.ok(node.mean <= usual.fullness * 1.2, `${node.mean}`);
        assert.ok(Math.max(database.fullest, node.fullest, nodeWithOneMissing) < 1);
      }
    }
  });

  it("needs more deployments when a change costs more CPU", () => {
    const plan = { ...usual, accounts: 10_000_000 };
    const dearer = sizing(plan, { ...measured, postgresUs: 2 * measured.postgresUs, nodeUs: 2 * measured.nodeUs });
    assert.ok(dearer.deployments > sizing(plan).deployments);
  });
});
