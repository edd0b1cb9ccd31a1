import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import type { Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts } from "./made-alerts.ts";

describe("the explanation of an alert", () => {
  it("says in a sentence in which state the alert is, and what happens next", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, alerts, accessScope, showAway, userId } = await madeAlerts(store);
      const id = await add();
      const sentence = async () => (await alerts.explain(accessScope, id)).sentence;
      assert.equal(await sentence(), "It is armed, and fires when its condition becomes true.");
      assert.equal((await alerts.explain(accessScope, id)).value, null);
      await showAway("home");
      const { firedMs } = await alerts.find(accessScope, id);
      const firedTime = new Date(firedMs!).toISOString();
      assert.equal(await sentence(), `It fired at ${firedTime} and is disarmed until its condition has been false.`);
      await alerts.setEnabled(accessScope, id, true);
      assert.equal(
        await sentence(),
        "Its condition is true. It fires at the next change or write that leaves it true.",
      );
      await alerts.setEnabled(accessScope, id, false);
      assert.equal(await sentence(), "It is disabled.");
      await store.transaction((tx) =>
        tx.triggers.change(userId, id, { reason: "d.structures[1].a.away has passed to another device" }),
      );
      assert.equal(await sentence(), "It was disabled. Reason: d.structures[1].a.away has passed to another device.");
    }));

  it("names no time for a disarmed alert of which no time of firing is stored", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, alerts, accessScope, userId } = await madeAlerts(store);
      const id = await add();
      await store.transaction((tx) => tx.triggers.change(userId, id, { isArmed: false }));
      const { sentence } = await alerts.explain(accessScope, id);
      assert.equal(sentence, "It fired and is disarmed until its condition has been false.");
    }));

  it("does not evaluate a pattern that would take too many steps, and says so", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { addOld, add, alerts, accessScope, write, lamp } = await madeAlerts(store);
      const watched = { deviceId: lamp, attributeName: "text", action: "note", targets: [] };
      const id = await add({ ...watched, operation: "regex", stringThreshold: "a{60}.*" });
      const uncompilable = await addOld(`(?i)[${"B-\u{1e942}".repeat(80)}]`, watched);
      const explained = async () => {
        const { isTrue, sentence } = await alerts.explain(accessScope, id);
        return [isTrue, sentence];
      };
      const notEvaluated = "Its condition was not evaluated now: its pattern takes too many steps on so long a value.";
      await write(lamp, "text", "b".repeat(7_000));
      assert.deepEqual(await explained(), [false, "It is armed, and fires when its condition becomes true."]);
      await write(lamp, "text", "b".repeat(8_000));
      const matches = t.mock.method(RE2JS.prototype, "matches");
      const compile = t.mock.method(RE2JS, "compile");
      assert.deepEqual(await explained(), [null, notEvaluated]);
      assert.equal((await alerts.explain(accessScope, uncompilable)).isTrue, null);
      await assert.rejects(alerts.tryValue(accessScope, id, "b".repeat(8_000)), {
        code: "bad_parameter",
        parameter: "value",
      });
      assert.deepEqual([matches.mock.callCount(), compile.mock.callCount()], [0, 0]);
      assert.equal((await alerts.tryValue(accessScope, id, "a".repeat(7_000))).outcome, "fired");
    }));

  it("matches a pattern neither while it reads the store nor twice in one turn of the event loop", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { add, accessScope, write, lamp } = await madeAlerts(store);
      const costly = { operation: "regex", stringThreshold: "a{60}.*", action: "note", targets: [] };
      const id = await add({ ...costly, deviceId: lamp, attributeName: "text" });
      await write(lamp, "text", "a".repeat(7_000));
      let reading = 0;
      let turns = 0;
      const watching: Pick<Store<AlertTables>, "read"> = {
        async read(body, priority) {
          reading += 1;
          return store.read(body, priority).finally(() => {
            reading -= 1;
          });
        },
      };
      const alerts = alertsOn({
        store: { isShared: false, transaction: () => assert.fail("an explanation only reads"), ...watching },
        turn: async () => {
          turns += 1;
        },
      });
      const turnsOfMatches: number[] = [];
      const real = RE2JS.prototype.matches;
      t.mock.method(RE2JS.prototype, "matches", function (this: RE2JS, value: string) {
        assert.equal(reading, 0);
        turnsOfMatches.push(turns);
        return real.call(this, value);
      });
      for (let i = 0; i < 3; i++) assert.equal((await alerts.explain(accessScope, id)).isTrue, true);
      assert.equal((await alerts.tryValue(accessScope, id, "a".repeat(7_000))).outcome, "ignored");
      assert.deepEqual(turnsOfMatches, [1, 2, 3, 4]);
    }));
});
