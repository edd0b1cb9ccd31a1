import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
      const since = new Date(firedMs!).toISOString();
      assert.equal(await sentence(), `It fired at ${since} and is disarmed until its condition has been false.`);
      await alerts.setEnabled(accessScope, id, true);
      assert.equal(
        await sentence(),
        "Its condition is true. It fires at the next change or write that leaves it true.",
      );
      await alerts.setEnabled(accessScope, id, false);
      assert.equal(await sentence(), "It is disabled.");
      await store.transaction((tx) => tx.triggers.change(userId, id, { reason: "its slot has passed on" }));
      assert.equal(await sentence(), "It was disabled. Reason: its slot has passed on.");
    }));

  it("names no time for an alert that was disarmed before firings were counted", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, alerts, accessScope, userId } = await madeAlerts(store);
      const id = await add();
      await store.transaction((tx) => tx.triggers.change(userId, id, { isArmed: false }));
      const { sentence } = await alerts.explain(accessScope, id);
      assert.equal(sentence, "It fired and is disarmed until its condition has been false.");
    }));
});
