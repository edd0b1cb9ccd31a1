import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import type { Sql } from "../../src/store/sql.ts";
import { userTable } from "../../src/store/tables/users.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("the statements on many users, on SQLite", () => {
  it("look only at the rows of a page or a range", () =>
    onDatabase(sqliteHarness, async (database) => {
      const texts: string[] = [];
      const all = async (text: string) => {
        texts.push(text);
        return [];
      };
      const users = userTable({ dialect: "sqlite", all } as unknown as Sql);
      const tenantId = 1 as TenantId;
      await users.idsWithin({ kind: "enterprise", tenantId }, 0, 10);
      await users.listed({ text: "a", tenantIds: [tenantId], afterId: 0, throughId: 10, limit: 10 });
      await users.listed({ text: "a", afterId: 0, throughId: 10, limit: 10 });
      assert.equal(texts.length, 3);
      for (const text of texts) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        const [read, ...others] = plan.map(({ detail }) => detail);
        assert.match(read!, /^SEARCH users .*(tenant_id=\? AND id>\?|rowid>\? AND rowid<\?)/, text);
        assert.deepEqual(others, [], text);
      }
    }));
});
