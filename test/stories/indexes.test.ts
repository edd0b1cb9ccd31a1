import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertMirrors } from "./expected-attributes.ts";
import { eventually, longSuiteOn, world } from "./world.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`indexes on ${database}`, () => {
    it("show a replaced alarm in a full range at once", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 18 }] });
      const deviceId = await story.link();
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      const before = await story.client.device(deviceId);
      await story.simulator.playScene(story.accountId, { scene: "add-alarm" });
      await eventually(t.signal, async () => {
        const { overLimit } = await story.client.linkStatus();
        assert.deepEqual(overLimit, { structures: 0, thermostats: 0, alarms: 1 });
      });
      assert.deepEqual((await story.client.device(deviceId)).attributes, before.attributes);
      await story.simulator.playScene(story.accountId, { scene: "remove-alarm", alarm: 5 });
      await eventually(t.signal, async () => {
        const { body: map } = await story.client.largeStrings(deviceId);
        const shown = await story.client.device(deviceId);
        assertMirrors(shown, story.simulator.document(story.accountId), map);
        assert.equal((await story.client.linkStatus()).overLimit.alarms, 0);
        assert.equal(shown.attributes.get("o.structures[1].totals.smokeCOAlarms")?.value, "18");
      });
    });
  });
}
