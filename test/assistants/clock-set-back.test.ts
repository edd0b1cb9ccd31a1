import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sendDue } from "../../src/assistants/reporter/sending.ts";
import { sweepReports } from "../../src/assistants/reporter/sweep.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmed, changed, down, linked, stillGoing, taken } from "./made-assistant.ts";

const hourMs = 3_600_000;

describe("the reporter, after the store's clock was set back", () => {
  it("tells an emergency from before at once, and then has nothing to tell", () =>
    onStore(sqliteHarness, async (store, database) => {
      const { parts, key, log, feed, sent, grant } = await linked(store);
      await log(alarmed("t_a"));
      await feed();
      await database.jumpClock(-hourMs);
      const due = () => store.read(async (tx) => tx.assistantGrants.due(await tx.clock.nowMs(), 10));
      assert.deepEqual(
        (await due()).map(({ isUrgent }) => isUrgent),
        [true],
      );
      await sendDue(parts, key, stillGoing);
      assert.deepEqual([sent, (await grant())?.dueMs], [["t_a state alarm"], null]);
    }));

  it("compares the freshness of links soon, and waits for nothing longer than it ever does", () =>
    onStore(sqliteHarness, async (store, database) => {
      let answer = down;
      const { parts, key, log, feed, sent } = await linked(store, async () => answer);
      let compared = 0;
      const sweep = () => {
        const staleLinks = async () => {
          compared += 1;
          return new Map();
        };
        return sweepReports({ store, staleLinks }, stillGoing);
      };
      await sweep();
      await log(changed("t_b"));
      await log(alarmed("t_a"));
      await feed();
      await sendDue(parts, key, stillGoing);
      await database.jumpClock(-hourMs);
      answer = taken;
      await sendDue(parts, key, stillGoing);
      assert.deepEqual([compared, sent], [1, []], "it waits after the failure");
      await sweep();
      assert.equal(compared, 2);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state alarm", "t_b state"]);
    }));
});
