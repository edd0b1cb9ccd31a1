import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "../events/event-stream.ts";
import { clientOfUser } from "./v3-client.ts";
import { deployments, eventually, longSuiteOn, person, world } from "./world.ts";

const thermostat = "d.structures[1].d.thermostats[1]";

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`what happens to a linked account on ${database}`, () => {
    it("is reported as events: changes, the state of the link, the outcome of a fan request, its removal", {
      timeout: 90_000,
    }, async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 1 }] });
      const client = await clientOfUser(() => story.service, "Story", person);
      const stream = await EventStream.open(story.service.baseUrl, client.accessToken);
      const deviceId = await story.link();
      const dataOf = (name: string) => stream.events.filter((event) => event.name === name).map(({ data }) => data);
      await eventually(t.signal, async () => assert.equal(dataOf("link").at(-1)?.state, "live"));
      assert.deepEqual(dataOf("device")[0]?.what, "added");
      assert.deepEqual(dataOf("link")[0]?.ecosystem, "nest");
      const total = dataOf("attribute").find(({ name }) => name === "o.totalStructures");
      assert.deepEqual([total.value, total.cause], [1, { by: "ecosystem" }]);

      const old = "d.structures[1].d.thermostat[1].fan_timer_active";
      const query = `?attribute=${encodeURIComponent(old)}&deviceId=${deviceId}`;
      const narrow = await EventStream.open(story.service.baseUrl, client.accessToken, { query });
      await narrow.until(1, () => true);
      await client.write(deviceId, { [`${thermostat}.fan_timer_active.requestWrite`]: "true" });
      await eventually(t.signal, async () => {
        const states = dataOf("command").map(({ state }) => state);
        assert.deepEqual(states.slice(0, 2), ["queued", "sending"]);
        assert.equal(states.at(-1), "confirmed");
      });
      const { commands } = (await client.call(`/devices/${deviceId}/commands`)).body;
      assert.deepEqual([commands.length, commands[0].state, commands[0].value], [1, "confirmed", "true"]);
      const [change] = await narrow.until(1, ({ name }) => name === "attribute");
      assert.deepEqual([change?.data.name, change?.data.value], [old, "true"]);

      await story.simulator.playScene(story.accountId, { scene: "leave" });
      await eventually(t.signal, async () =>
        assert.equal(dataOf("attribute").findLast(({ name }) => name === "d.structures[1].a.away")?.value, "away"),
      );
      await story.service.parts.federation.unlink(story.userId, "nest");
      await eventually(t.signal, async () => assert.equal(dataOf("device").at(-1)?.what, "removed"));
    });
  });
}
