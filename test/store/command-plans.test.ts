import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeId } from "../../src/model/ids.ts";
import { fanRequestTable } from "../../src/store/tables/fan-requests.ts";
import { thingCommandTable } from "../../src/store/tables/thing-commands.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { recordingSql } from "./recording-sql.ts";

describe("the statements that look after open commands, on SQLite", () => {
  it("read open commands alone, however many ended ones are kept and links are there", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      const owner = "one" as NodeId;
      await fanRequestTable(sql).queuedFor(owner, 10);
      await fanRequestTable(sql).overdue(1, 2, 3, 10, 4);
      await thingCommandTable(sql).queuedFor(owner, 10);
      await thingCommandTable(sql).overdue(1, 2, 3, 10, 4);
      await thingCommandTable(sql).due(1, 10);
      await thingCommandTable(sql).ownAhead(1, 10, 0);
      const firstReads: (string | undefined)[] = [];
      for (const text of texts) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        const read = plan.find(({ detail }) => /^(SEARCH|SCAN) /.test(detail))!;
        firstReads.push(/^SEARCH c USING INDEX (\w+)/.exec(read.detail)?.[1]);
      }
      assert.deepEqual(firstReads, [
        ...["commands_unsettled", "commands_unsettled"],
        ...["thing_commands_unsettled", "thing_commands_unsettled"],
        ...["thing_commands_due", "thing_commands_due"],
      ]);
    }));
});
