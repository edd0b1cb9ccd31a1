import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import type { Sql } from "../../src/store/sql.ts";
import { assistantGrantTable } from "../../src/store/tables/assistant-grants.ts";
import { webhookTable } from "../../src/store/tables/webhooks.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("the statements on webhooks and on assistants of users, on SQLite", () => {
  it("find the grant among those of the user: a client may have a grant of every user", () =>
    onDatabase(sqliteHarness, async (database) => {
      const texts: string[] = [];
      const all = async (text: string) => {
        texts.push(text);
        return [];
      };
      const sql = { dialect: "sqlite", all, nowMs: async () => 0 } as unknown as Sql;
      const [userId, tenantId] = [1 as UserId, 1 as TenantId];
      await webhookTable(sql).listed({ only: "failing", afterId: "", limit: 11 });
      await webhookTable(sql).ofOwner({ kind: "user", userId, tenantId, clientId: "c" } as never);
      await assistantGrantTable(sql).ofUsers([userId]);
      await assistantGrantTable(sql).failing();
      await assistantGrantTable(sql).countOfOutlet("o");
      assert.equal(texts.length, 5);
      for (const text of texts) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        const reads = plan.map(({ detail }) => detail).filter((detail) => / g\b/.test(detail));
        assert.ok(reads.length > 0, `the plan of ${text} names no grant`);
        for (const read of reads) assert.match(read, /^SEARCH g .*\(owner_id=\?\)/, text);
      }
    }));
});
