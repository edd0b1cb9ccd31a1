import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import pg from "pg";
import { split, splitTable } from "../../bench/distribution.ts";
import { measured, scalingTables, simulate, sizing, usual } from "../../bench/scaling-model.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");

describe("docs/scaling.md", () => {
  it("has the figures that the model computes, and the costs that it was given", () => {
    assert.ok(page.includes(`${scalingTables()}\n`), `the tables have changed:\n${scalingTables()}`);
    for (const [name, cost] of Object.entries(measured)) {
      assert.ok(page.includes(`| ${cost.toLocaleString("en-US")} |`), `${name}: ${cost}`);
    }
  });

  it("says of every table by what it would be split", { skip: missingPostgres() ?? false }, async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    await (await openPostgres({ url })).close();
    const hand = new pg.Client({ connectionString: url });
    await hand.connect();
    t.after(() => hand.end());
    const { rows } = await hand.query<{ table: string; column: string; isKey: boolean }>(
      `SELECT c.relname AS table, a.attname AS column, COALESCE(a.attnum = ANY (i.indkey), false) AS "isKey"
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
       WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
    );
    assert.deepEqual(Object.keys(split).sort(), [...new Set(rows.map(({ table }) => table))].sort());
    const find = (table: string, column: string) =>
      rows.find((row) => row.table === table && row.column === column) ?? assert.fail(`${table} has no ${column}`);
    const told = splitTable((table, column) => find(table, column).isKey);
    assert.ok(page.includes(`${told}\n`), `the table has changed:\n${told}`);
  });
});

describe("the model of many accounts", () => {
  it("fills no machine beyond what was planned, whatever there is to do", () => {
    for (const accounts of [1, 1_000, 250_000, 7_000_000]) {
      for (const changesAnHour of [0.1, 6, 60, 600]) {
        const plan = { ...usual, accounts, changesAnHour };
        const { cells, accountsOfCell, nodesOfCell, accountsOfNode, databaseCoresOfCell } = sizing(plan);
        assert.ok(cells * accountsOfCell >= accounts);
        assert.ok(accountsOfNode <= usual.mostOfNode && nodesOfCell >= 2);
        assert.ok(databaseCoresOfCell <= usual.databaseCores);
      }
    }
  });

  it("is borne out by its simulation: nothing is left behind in the busiest minutes, even with a node missing", () => {
    for (const accounts of [100_000, 1_000_000, 100_000_000]) {
      for (const seed of [1, 2, 3]) {
        const { node, database, nodeWithOneMissing } = simulate({ ...usual, accounts }, seed);
        assert.ok(database.mean <= usual.fullness * 1.05, `${database.mean}`);
        assert.ok(node.mean <= usual.fullness * 1.2, `${node.mean}`);
        assert.ok(Math.max(database.fullest, node.fullest, nodeWithOneMissing) < 1);
      }
    }
  });

  it("needs more of everything when a change costs more", () => {
    const plan = { ...usual, accounts: 10_000_000 };
    const dearer = sizing(plan, { ...measured, postgresUs: 2 * measured.postgresUs, nodeUs: 2 * measured.nodeUs });
    assert.ok(dearer.cells > sizing(plan).cells);
  });
});
