import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { EventStream } from "../events/event-stream.ts";
import { receiver } from "../events/receiver.ts";
import { alarmsOf, firingsOf, json, smokeOf, watchSmoke } from "./smoke-alerts.ts";
import { clientOfUser } from "./v3-client.ts";
import { type Deployment, databases, eventually, person, world } from "./world.ts";

for (const database of databases) {
  describe(`an alert on a smoke alarm on ${database}`, () => {
    it("fires once for each emergency, for those alone who asked for things", { timeout: 90_000 }, async (t) => {
      const { v3, story, thingId, lamp, play } = await linkedHouse(t, database);
      const [hearing, other] = [await receiver(t), await receiver(t)];
      for (const [{ url }, things] of [[hearing, true] as const, [other, false] as const]) {
        assert.equal((await v3.call("/webhooks", json("POST", { url, things, deviceIds: [] }))).status, 201);
      }
      const open = (query: string) => EventStream.open(story.service.baseUrl, v3.accessToken, { query });
      const [stream, plain] = [await open("?things=true"), await open("")];
      const alertId = await watchSmoke(v3, thingId, lamp);
      await play("smoke");
      await play("clear");
      await play("smoke");
      assert.deepEqual(await firingsOf(v3, alertId, thingId, lamp), [2, 2, 2]);

      const firings = await stream.until(2, ({ name }) => name === "alert");
      const expected = { alert: alertId, thingId, field: "smoke.state", value: "alarm", action: "attribute" };
      for (const { data } of firings) assert.deepEqual({ ...data, ...expected }, data);
      const isFiring = ({ message }: (typeof hearing.received)[number]) => message.type === "alert";
      await eventually(t.signal, async () => assert.equal(hearing.received.filter(isFiring).length, 2));
      const [first] = hearing.received.filter(isFiring);
      assert.deepEqual({ ...first!.message.data, ...expected }, first!.message.data);
      // Whatever follows the firing in the log has arrived: so the firing was left out.
      const isWrite = ({ data }: { readonly data: { readonly name?: string } }) => data.name === "smoke";
      await plain.until(2, isWrite);
      await eventually(t.signal, async () => {
        const writes = other.received.filter(({ message }) => message.data.attributes?.smoke !== undefined);
        assert.equal(writes.length, 2);
      });
      assert.ok(!plain.events.some(({ name }) => name === "alert"));
      assert.ok(!other.received.some(isFiring));
      const { getTriggerDetailListByUserResponse: xml } = await story.client.call("getTriggerDetailListByUser", {
        secToken: story.client.secToken,
      });
      assert.ok(!JSON.stringify(xml ?? "").includes("trigList"), "platform calls do not list it");
    });

    it("stays with a thing that is gone, and with the account after it is linked again", {
      timeout: 90_000,
    }, async (t) => {
      const { v3, story, thingId, lamp, play } = await linkedHouse(t, database);
      const alertId = await watchSmoke(v3, thingId, lamp);
      await play("smoke");
      await story.simulator.playScene(story.accountId, { scene: "remove-alarm" });
      await eventually(t.signal, async () => {
        assert.ok((await v3.call(`/things/${thingId}`)).body.goneTime !== undefined);
      });
      const { body } = await v3.call(`/alerts/${alertId}/explain`);
      assert.deepEqual([body.value, body.alert.enable, body.alert.disarmed], [null, true, false]);
      await story.simulator.playScene(story.accountId, { scene: "return" });
      await eventually(t.signal, async () => {
        assert.equal((await v3.call(`/alerts/${alertId}`)).body.firings, 2);
      });
      await play("clear");
      await story.client.federate("PUT", story.simulator.issueToken(story.accountId));
      await play("smoke");
      await eventually(t.signal, async () => {
        assert.equal((await v3.call(`/alerts/${alertId}`)).body.firings, 3);
      });
      await story.client.unlink();
      assert.equal((await v3.call(`/alerts/${alertId}`)).body.error, "unknown_trigger");
      assert.deepEqual((await v3.call("/alerts?things=true")).body, { alerts: [] });
    });
  });
}

async function linkedHouse(t: TestContext, database: Deployment) {
  const story = await world(t, { database, allowsPrivateWebhooks: true, structures: [{ thermostats: 1, alarms: 1 }] });
  const v3 = await clientOfUser(() => story.service, "Story", person);
  await story.link();
  const [thingId] = await alarmsOf(v3, t.signal, 1);
  return {
    story,
    v3,
    thingId: thingId!,
    lamp: await story.addLamp(),
    /** Plays a scene, and waits until the thing shows it. */
    async play(scene: "smoke" | "clear") {
      await story.simulator.playScene(story.accountId, { scene });
      const shown = scene === "smoke" ? "alarm" : "clear";
      await eventually(t.signal, async () => assert.equal(await smokeOf(v3, thingId!), shown));
    },
  };
}
