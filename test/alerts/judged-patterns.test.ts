import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { judgedPatterns } from "../../src/alerts/judged-patterns.ts";
import type { Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts } from "./made-alerts.ts";
import { madeThingAlerts } from "./made-thing-alerts.ts";

const tooComplex = { code: "bad_parameter", parameter: "stringThreshold" };
/** Takes a second to compile. */
const costly = `(?i)[${"B-\u{1e942}".repeat(80)}]`;

describe("the pattern of a new definition", () => {
  it("is compiled before the transaction, in which other writers wait, and once for all", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { accessScope, given } = await madeAlerts(store);
      let isOpen = false;
      const inside: boolean[] = [];
      const opening = async <Result>(run: () => Promise<Result>): Promise<Result> => {
        isOpen = true;
        return run().finally(() => {
          isOpen = false;
        });
      };
      const watched: Store<AlertTables> = {
        isShared: false,
        read: (body, priority) => opening(() => store.read(body, priority)),
        transaction: (body, priority) => opening(() => store.transaction(body, priority)),
      };
      const alerts = alertsOn({ store: watched });
      const real = RE2JS.compile;
      t.mock.method(RE2JS, "compile", (pattern: string) => {
        inside.push(isOpen);
        return real.call(RE2JS, pattern);
      });
      const rule = (stringThreshold: string) => given({ operation: "regex", stringThreshold });
      const { id } = await alerts.add(accessScope, rule("first"));
      await alerts.redefine(accessScope, id, () => rule("second"));
      await alerts.dryRun(accessScope, rule("third"), { afterMs: 0, untilMs: 1 });
      for (const refused of [rule("("), rule("a{900}")]) {
        await assert.rejects(alerts.add(accessScope, refused), tooComplex);
        await assert.rejects(alerts.redefine(accessScope, id, refused), tooComplex);
      }
      assert.deepEqual(
        inside,
        Array.from({ length: 6 }, () => false),
      );
    }));

  it("is judged in the transaction when it follows from an alert that was changed meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      const { alerts, accessScope, given, add } = await madeAlerts(store);
      const id = await add();
      let asked = 0;
      const rules = ["fine", "("].map((stringThreshold) => given({ operation: "regex", stringThreshold }));
      await assert.rejects(
        alerts.redefine(accessScope, id, () => rules[asked++]!),
        tooComplex,
      );
      assert.equal(asked, 2);
    }));
});

describe("a pattern that an older version has accepted", () => {
  it("stays when other parts of its alert are changed, and is not compiled for it", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { addOld, alerts, accessScope, given } = await madeAlerts(store);
      const id = await addOld(costly);
      const compile = t.mock.method(RE2JS, "compile");
      const kept = given({ operation: "regex", stringThreshold: costly, message: "changed" });
      const changed = await alerts.redefine(accessScope, id, kept);
      assert.deepEqual([changed.message, changed.condition], ["changed", { operation: "regex", pattern: costly }]);
      await assert.rejects(alerts.redefine(accessScope, id, { ...kept, stringThreshold: `${costly}x` }), tooComplex);
      await assert.rejects(alerts.add(accessScope, kept), tooComplex);
      assert.equal(compile.mock.callCount(), 0);
    }));

  it("also stays on a field of a thing with few values", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { addOnThing, givenOnThing, alerts, accessScope } = await madeThingAlerts(store);
      const rule = { operation: "regex", stringThreshold: ".*" };
      const id = await addOnThing(rule);
      const row = await alerts.onThings.find(accessScope, id);
      await store.transaction((tx) =>
        tx.thingTriggers.redefine({ ...row, condition: { operation: "regex", pattern: costly } }),
      );
      const compile = t.mock.method(RE2JS, "compile");
      const kept = givenOnThing({ ...rule, stringThreshold: costly, message: "changed" });
      assert.equal((await alerts.onThings.redefine(accessScope, id, kept)).message, "changed");
      assert.equal(compile.mock.callCount(), 0);
    }));

  it("is asked about once, if it is a pattern at all and not far too long; others are asked about as ever", () => {
    const asked: string[] = [];
    const patterns = {
      faultOf(pattern: string) {
        asked.push(pattern);
        return pattern.startsWith("bad") ? "A fault." : undefined;
      },
      matches: () => false,
    };
    const judge = (stringThreshold: string, operation = "regex", present?: string) =>
      judgedPatterns(
        patterns,
        { operation, stringThreshold, threshold: "" },
        present === undefined ? undefined : { operation: "regex", pattern: present },
      );
    assert.equal(judge("bad", "equals"), patterns);
    assert.equal(judge("x".repeat(513)), patterns);
    assert.deepEqual(asked, []);
    const longest = "x".repeat(512);
    const ofLongest = judge(longest);
    assert.deepEqual(asked.splice(0), [longest]);
    assert.deepEqual([ofLongest.faultOf(longest), asked], [undefined, []]);
    const judged = judge("bad");
    assert.deepEqual([judged.faultOf("bad"), judged.faultOf("other")], ["A fault.", undefined]);
    assert.deepEqual(asked.splice(0), ["bad", "other"]);
    const kept = judge("bad", "regex", "bad");
    assert.deepEqual([kept.faultOf("bad"), kept.faultOf("bad too")], [undefined, "A fault."]);
    assert.deepEqual([kept.matches("bad", ""), kept.matches("other", "")], [true, false]);
  });
});
