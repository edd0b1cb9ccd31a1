import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { estimatedCost } from "../../src/alerts/pattern-cost.ts";
import { limits } from "../../src/model/limits.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts } from "./made-alerts.ts";

describe("alerts that were made to exhaust the service", () => {
  it("share one budget of steps: those beyond it are not evaluated, and their records say so", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, write, lamp, firings, alerts, accessScope, standing } = await madeAlerts(store);
      const busy = { deviceId: lamp, attributeName: "text", operation: "regex", action: "note", targets: [] };
      const ids = [];
      for (let i = 0; i < 40; i++) ids.push(await add({ ...busy, stringThreshold: `(.*a){20}.{${i}}` }));
      await write(lamp, "text", "a".repeat(8_000));
      const stopped = [];
      for (const id of ids) {
        const [latest] = (await alerts.explain(accessScope, id)).evaluations;
        if (latest?.outcome !== "stopped") continue;
        assert.equal(latest.note, "stopped at the limit");
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: true });
        stopped.push(id);
      }
      assert.ok(stopped.length > 30);
      assert.equal((await firings(lamp)).length, ids.length - stopped.length);
      // The next event is evaluated normally.
      await write(lamp, "text", "a".repeat(20));
      assert.equal((await alerts.explain(accessScope, ids[0]!)).evaluations[0]?.outcome, "ignored");
    }));

  it("have patterns of an older version that take long to compile: one change compiles few of them", (t) =>
    onStore(sqliteHarness, async (store) => {
      const { addOld, write, lamp, evaluationsOf } = await madeAlerts(store);
      const patternOf = (i: number) => `(?i)${"\\pL".repeat(79)}${String.fromCharCode(0x61 + i)}`;
      const ids = [];
      for (let i = 0; i < 9; i++) {
        ids.push(await addOld(patternOf(i), { deviceId: lamp, attributeName: "k", action: "note", targets: [] }));
      }
      const compile = t.mock.method(RE2JS, "compile");
      await write(lamp, "k", "v");
      const compiled = Math.floor(limits.patternCostPerCause / estimatedCost(patternOf(0)));
      assert.equal(compile.mock.callCount(), compiled);
      const outcomes = [];
      for (const id of ids) outcomes.push((await evaluationsOf(id))[0]);
      assert.deepEqual(outcomes.slice(compiled - 1, compiled + 1), ["v unmet", "v stopped stopped at the limit"]);
      assert.deepEqual([new Set(outcomes.slice(0, compiled)).size, new Set(outcomes.slice(compiled)).size], [1, 1]);
    }));

  it("all fire when they watch one device, and send no events beyond the limit", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, write, lamp, devices, firings } = await madeAlerts(store);
      const other = devices[1]!;
      const echo = { operation: "regex", stringThreshold: ".*", autoDisarm: false, action: "note", targets: [] };
      const target = { deviceId: other, attributeName: "n", value: "x" };
      for (let i = 0; i < 400; i++) await add({ ...echo, deviceId: lamp, attributeName: "n" });
      for (let i = 0; i < 100; i++) {
        await add({ ...echo, deviceId: lamp, attributeName: "n", action: "attribute", targets: [target] });
      }
      for (let i = 0; i < 100; i++) await add({ ...echo, deviceId: other, attributeName: "n" });
      await write(lamp, "n", "go");
      assert.equal((await firings(lamp)).length, 500);
      const told = await firings(other);
      assert.equal(told.filter(({ note }) => note === undefined).length, 500);
      assert.equal(told.filter(({ note }) => note === "stopped at the limit").length, 100);
    }));
});
