import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Chain } from "../../src/alerts/chain.ts";
import type { TriggerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { Evaluation } from "../../src/model/trigger.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts, target } from "./made-alerts.ts";

describe("the chain of alerts that one change starts", () => {
  it("has a budget of pattern steps, firings and bytes, and records which limit was reached", () => {
    const steps = new Chain();
    assert.ok(steps.maySpend(limits.patternStepsPerCause));
    assert.deepEqual([...steps.reached], []);
    assert.ok(!steps.maySpend(1));
    assert.deepEqual([...steps.reached], ["patternStepsPerCause"]);

    const bytes = new Chain();
    assert.ok(bytes.mayFire(limits.firingBytesPerCause));
    bytes.countFiring(limits.firingBytesPerCause);
    assert.ok(!bytes.mayFire(1));
    assert.deepEqual([...bytes.reached], ["firingBytesPerCause"]);

    const firings = new Chain();
    for (let i = 0; i < limits.firingsPerCause; i++) {
      assert.ok(firings.mayFire(1));
      firings.countFiring(1);
    }
    assert.ok(!firings.mayFire(1));
    assert.deepEqual([...firings.reached], ["firingsPerCause"]);
  });

  it("counts only the steps that it allows", () => {
    const chain = new Chain();
    assert.ok(!chain.maySpend(limits.patternStepsPerCause + 1));
    assert.ok(chain.maySpend(limits.patternStepsPerCause));
    assert.ok(!chain.maySpend(1));
  });

  it("counts what a pattern costs once, and knows whether it has commanded a thing", () => {
    const chain = new Chain();
    assert.ok(chain.mayCompile("a", limits.patternCostPerCause));
    assert.ok(chain.mayCompile("a", limits.patternCostPerCause));
    assert.ok(!chain.mayCompile("b", 1));
    assert.deepEqual([...chain.reached], ["patternCostPerCause"]);
    chain.countCommands(0);
    assert.deepEqual([chain.hasCommanded, chain.commandRoom], [false, limits.alertCommandsPerCause]);
    chain.countCommands(1);
    assert.deepEqual([chain.hasCommanded, chain.commandRoom], [true, limits.alertCommandsPerCause - 1]);
  });

  it("keeps the newest 50 evaluations of an alert", () => {
    const chain = new Chain();
    const id = 1 as TriggerId;
    const evaluationAt = (timeMs: number): Evaluation => ({ timeMs, value: "x", outcome: "unmet" });
    for (let timeMs = 1; timeMs <= 50; timeMs++) chain.remember(id, evaluationAt(timeMs));
    assert.equal(chain.seen.get(id)?.length, 50);
    chain.remember(id, evaluationAt(51));
    const times = chain.seen.get(id)?.map(({ timeMs }) => timeMs);
    assert.deepEqual([times?.length, times?.[0], times?.at(-1)], [50, 2, 51]);
  });

  it("reaches alerts in the order of their ids, whichever attribute they watch", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, commit, userId, byClient, lamp, firings } = await madeAlerts(store);
      const note = { deviceId: lamp, stringThreshold: "on", action: "note", targets: [] };
      const ids = [];
      for (const attributeName of ["b", "a", "b", "a"]) ids.push(await add({ ...note, attributeName }));
      const changes = ["a", "b", "unwatched"].map((key) => ({ key, value: "on" }));
      await commit({ userId, cause: byClient, updates: [{ deviceId: lamp, changes }] });
      assert.deepEqual(
        (await firings(lamp)).map(({ alert }) => alert),
        ids,
      );
    }));

  it("fires an alert that disables itself once, even if it writes to the attribute that it watches", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, write, lamp, firings } = await madeAlerts(store);
      const selfTriggering = { deviceId: lamp, attributeName: "n", operation: "regex", stringThreshold: ".*" };
      await add({ ...selfTriggering, autoDisarm: false, autoDisable: true, targets: [target(lamp, "n", "again")] });
      await write(lamp, "n", "go");
      assert.equal((await firings(lamp)).length, 1);
    }));

  it("requests the fan of a linked account also when the attributes of the user's devices are at their limit", () =>
    onStore(sqliteHarness, async (store, database) => {
      const { add, write, lamp, account, userId, firings } = await madeAlerts(store);
      const fan = "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite";
      await add({
        deviceId: lamp,
        attributeName: "button",
        stringThreshold: "on",
        targets: [target(account, fan, "true")],
      });
      // As long as "on": the later write does not make the attributes larger.
      await write(lamp, "button", "xx");
      await database.sql(`UPDATE devices SET attribute_bytes = ${limits.attributeBytesPerUser} WHERE id = ${lamp}`);
      await write(lamp, "button", "on");
      assert.deepEqual(
        (await firings(lamp)).map(({ writes, note }) => [writes.length, note]),
        [[1, undefined]],
      );
      const key = thermostatAttribute(1, 2, "requestWrite");
      assert.equal((await store.read((tx) => tx.attributes.some(userId, account, [key])))[0]?.value, "true");
    }));
});
