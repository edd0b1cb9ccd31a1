import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UserId } from "../../src/model/ids.ts";
import type { Sql } from "../../src/store/sql.ts";
import { assistantGrantTable } from "../../src/store/tables/assistant-grants.ts";
import { assistantMarkTable } from "../../src/store/tables/assistant-marks.ts";
import { onDatabase, type TestDatabase } from "../contracts/store/harness.ts";
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

async function plansOf(database: TestDatabase, texts: readonly string[]): Promise<string[][]> {
  const plans: string[][] = [];
  for (const text of texts) {
    const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
    plans.push(plan.map(({ detail }) => detail));
  }
  return plans;
}

describe("the statements on assistants, on SQLite", () => {
  it("find emergencies by the index of urgent marks, and other grants in the order of their time", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      await assistantGrantTable(sql).due(1, 10, { busy: ["a"], full: ["b"] });
      const [urgent, others] = await plansOf(database, texts);
      const reads = urgent!.filter((detail) => /^S\w+ [am]\b/.test(detail));
      assert.equal(reads.length, 2);
      assert.match(reads[0]!, /^SEARCH a USING INDEX \S+ \(owner_id=\? AND outlet_id=\?\)$/);
      assert.match(reads[1]!, /^\S+ m USING COVERING INDEX assistant_marks_urgent/);
      assert.match(others![0]!, /^SEARCH a USING INDEX assistant_grants_due /);
      assert.ok(!others!.some((detail) => detail.includes("ORDER BY")), "it stops at the limit");
    }));

  it("find grants and marks of many users by their keys", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      const key = { userId: 1 as UserId, outletId: "a" };
      await assistantGrantTable(sql).lockAll([key]);
      await assistantGrantTable(sql).wakeEachAt([{ ...key, dueMs: 1 }]);
      await assistantMarkTable(sql).addAll([{ ...key, thingId: "t_a" }], 1);
      const [locked, woken, marks] = await plansOf(database, texts);
      const byGrant = /^SEARCH (a|assistant_grants) USING INDEX \S+ \(owner_id=\? AND outlet_id=\?\)$/;
      assert.ok(
        locked!.some((detail) => byGrant.test(detail)),
        locked!.join("\n"),
      );
      assert.ok(
        woken!.some((detail) => byGrant.test(detail)),
        woken!.join("\n"),
      );
      assert.ok(
        marks!.some((detail) =>
          /^SEARCH m USING PRIMARY KEY \(owner_id=\? AND outlet_id=\? AND thing_id=\?\)$/.test(detail),
        ),
        marks!.join("\n"),
      );
    }));

  it("add any number of marks with two statements", async () => {
    const { sql, texts } = recordingSql();
    const key = { userId: 1 as UserId, outletId: "a" };
    const marks = Array.from({ length: 2_000 }, (_, number) => ({ ...key, thingId: `t_${number}`, stateMs: 1 }));
    await assistantMarkTable(sql).addAll(marks, 1);
    assert.equal(texts.length, 2);
  });
});
