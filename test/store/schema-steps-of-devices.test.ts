import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("the schema on SQLite", () => {
  it("has an index for each foreign key to a device, so that a removal scans no table", () =>
    onDatabase(sqliteHarness, async (database) => {
      await database.open();
      const keys = await database.sql<{ table: string; column: string }>(
        `SELECT s.name AS "table", k."from" AS "column" FROM sqlite_schema s, pragma_foreign_key_list(s.name) k
         WHERE s.type = 'table' AND k."table" = 'devices'`,
      );
      assert.ok(keys.length >= 3);
      for (const { table, column } of keys) {
        const [plan] = await database.sql<{ detail: string }>(
          `EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${column} = 1`,
        );
        assert.match(plan!.detail, /^SEARCH/, `${table}: ${plan!.detail}`);
      }
    }));
});
