import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import type { PatternWork } from "../../src/alerts/pattern-cache.ts";
import { limits } from "../../src/model/limits.ts";
import type { Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts } from "./made-alerts.ts";
import { watchedWork } from "./made-matching.ts";

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
      const matches = t.mock.method(RE2JS.prototype, "matcher");
      const compile = t.mock.method(RE2JS, "compile");
      assert.deepEqual(await explained(), [null, notEvaluated]);
      const tooCostly = await alerts.explain(accessScope, uncompilable);
      assert.deepEqual(
        [tooCostly.isTrue, tooCostly.sentence],
        [null, "It is never evaluated: its pattern is too costly. Replace the pattern."],
      );
      await assert.rejects(alerts.tryValue(accessScope, uncompilable, "b"), {
        code: "bad_parameter",
        message: "The pattern of this alert is too costly for any value. Replace the pattern.",
      });
      await assert.rejects(alerts.tryValue(accessScope, id, "b".repeat(8_000)), {
        code: "bad_parameter",
        parameter: "value",
      });
      assert.deepEqual([matches.mock.callCount(), compile.mock.callCount()], [0, 0]);
      assert.equal((await alerts.tryValue(accessScope, id, "a".repeat(7_000))).outcome, "fired");
    }));

  it("has a costly pattern matched outside of the event loop and of reads, and a cheap one at once", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, accessScope, write, lamp } = await madeAlerts(store);
      const costly = { operation: "regex", stringThreshold: "a{60}.*", action: "note", targets: [] };
      const id = await add({ ...costly, deviceId: lamp, attributeName: "text" });
      const alertsWith = (work: PatternWork) => {
        let reading = 0;
        const read: Store<AlertTables>["read"] = async (body, priority) => {
          reading += 1;
          return store.read(body, priority).finally(() => {
            reading -= 1;
          });
        };
        const run: PatternWork["run"] = async (job) => {
          assert.equal(reading, 0);
          return work.run(job);
        };
        const transaction = () => assert.fail("an explanation only reads");
        return alertsOn({ store: { isShared: false, transaction, read }, patternWork: { run } });
      };
      const { patternWork, jobs } = watchedWork();
      const alerts = alertsWith(patternWork);
      await write(lamp, "text", "a".repeat(100));
      assert.equal((await alerts.explain(accessScope, id)).isTrue, true);
      assert.equal(jobs.length, 0);
      await write(lamp, "text", "a".repeat(7_000));
      for (let i = 0; i < 3; i++) assert.equal((await alerts.explain(accessScope, id)).isTrue, true);
      assert.equal((await alerts.tryValue(accessScope, id, "a".repeat(7_000))).outcome, "ignored");
      assert.equal(jobs.length, 4);
      const failed = await alertsWith({ run: async () => undefined }).explain(accessScope, id);
      assert.equal(failed.isTrue, null);
    }));

  it("shows the alert and the value as they are when its turn has come", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, accessScope, write, lamp, given, alerts: others } = await madeAlerts(store);
      const watched = { deviceId: lamp, attributeName: "text", operation: "regex", action: "note", targets: [] };
      const id = await add({ ...watched, stringThreshold: "a{60}.*" });
      await write(lamp, "text", "a".repeat(7_000));
      const { patternWork, jobs } = watchedWork();
      const changes = [
        () => others.redefine(accessScope, id, given({ ...watched, stringThreshold: "b{61}.*", message: "new" })),
        () => write(lamp, "text", "b".repeat(7_000)),
      ];
      const run: PatternWork["run"] = async (job) => {
        await changes.shift()?.();
        return patternWork.run(job);
      };
      const explained = await alertsOn({ store: store as Store<AlertTables>, patternWork: { run } }).explain(
        accessScope,
        id,
      );
      assert.deepEqual([explained.trigger.message, explained.value?.[0], explained.isTrue], ["new", "b", true]);
      assert.equal(jobs.length, 3);
    }));

  it("counts for operators apart from the user, and ends with its client", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, accessScope, write, lamp } = await madeAlerts(store);
      const watched = { deviceId: lamp, attributeName: "text", operation: "regex", action: "note", targets: [] };
      const id = await add({ ...watched, stringThreshold: "a{60}.*" });
      await write(lamp, "text", "a".repeat(7_000));
      const { patternWork } = watchedWork();
      const held = Promise.withResolvers<void>();
      const run: PatternWork["run"] = async (job) => {
        await held.promise;
        return patternWork.run(job);
      };
      const alerts = alertsOn({ store: store as Store<AlertTables>, patternWork: { run } });
      const waiting = Array.from({ length: limits.explanationsWaiting }, () => alerts.explain(accessScope, id));
      await Promise.race([
        ...waiting,
        assert.rejects(alerts.explain(accessScope, id), { code: "limit_reached", limit: "explanationsWaiting" }),
      ]);
      const leaving = new AbortController();
      const gone = alerts.explain(accessScope, id, { isOperator: true, disconnected: leaving.signal });
      const ended = assert.rejects(gone, { code: "client_gone" });
      leaving.abort();
      await ended;
      const byOperator = alerts.explain(accessScope, id, { isOperator: true });
      held.resolve();
      for (const one of [...waiting, byOperator]) assert.equal((await one).isTrue, true);
    }));
});
