import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UserId } from "../../src/model/ids.ts";
import type { Sql } from "../../src/store/sql.ts";
import { assistantGrantTable } from "../../src/store/tables/assistant-grants.ts";
import { assistantMarkTable } from "../../src/store/tables/assistant-marks.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** Keeps the texts of statements and runs none. */
function recordingSql() {
  const texts: string[] = [];
  const all = async (text: string) => {
    texts.push(text);
    return [];
  };
  const sql = { dialect: "sqlite", all, run: async (text: string) => texts.push(text) } as unknown as Sql;
  return { sql, texts };
}

describe("the statements on assistants, on SQLite", () => {
  it("find emergencies by the index of urgent marks, and other grants in the order of their time", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      await assistantGrantTable(sql).due(1, 10, { busy: ["a"], full: ["b"] });
      const plans: string[][] = [];
      for (const text of texts) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        plans.push(plan.map(({ detail }) => detail));
      }
      const [urgent, others] = plans;
      const reads = urgent!.filter((detail) => /^S\w+ [am]\b/.test(detail));
      assert.equal(reads.length, 2);
      assert.match(reads[0]!, /^SEARCH a USING INDEX \S+ \(owner_id=\? AND outlet_id=\?\)$/);
      assert.match(reads[1]!, /^\S+ m USING INDEX assistant_marks_urgent/);
      assert.match(others![0]!, /^SEARCH a USING INDEX assistant_grants_due /);
      assert.ok(!others!.some((detail) => detail.includes("ORDER BY")), "it stops at the limit");
    }));

  it("add any number of marks with two statements", async () => {
    const { sql, texts } = recordingSql();
    const marks = Array.from({ length: 2_000 }, (_, number) => ({ thingId: `t_${number}`, stateMs: 1 }));
    await assistantMarkTable(sql).addAll({ userId: 1 as UserId, outletId: "a" }, marks, 1);
    assert.equal(texts.length, 2);
  });
});
