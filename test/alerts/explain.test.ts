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
});
