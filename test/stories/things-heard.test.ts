import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { EventStream, type ReceivedEvent } from "../events/event-stream.ts";
import { receiver } from "../events/receiver.ts";
import { clientOfUser } from "./v3-client.ts";
import { type Deployment, eventually, longSuiteOn, person, world } from "./world.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`a smoke emergency on ${database}`, () => {
    it("reaches the streams that asked for things, and leaves the others as they are", {
      timeout: 60_000,
    }, async (t) => {
      const { play, deviceId, alarmThings, open, v3 } = await linkedHome(t, database);
      const [hearing, others] = [await open("?things=true"), await open()];
      const ofEach = await Promise.all(alarmThings.map((thingId) => open(`?things=true&thingId=${thingId}`)));
      await play("smoke");
      await play("clear");
      const [alarm, clear] = await hearing.until(2, isSmokeState);
      assert.deepEqual([alarm, clear].map(smokeState), ["alarm", "clear"]);
      const { thingId, updateTime, ...data } = alarm!.data;
      assert.deepEqual(data, { deviceId, what: "state", fields: data.fields, cause: { by: "ecosystem" } });
      const { body: thing } = await v3.call(`/things/${thingId}`);
      assert.deepEqual(thing.traits.smoke.state.state, { value: "clear", updateTime: clear?.data.updateTime });
      assert.ok(updateTime < clear!.data.updateTime);
      const { body: history } = await v3.call(`/things/${thingId}/history?field=smoke.state&from=${updateTime}`);
      assert.deepEqual(history, {
        thingId,
        deviceId,
        changes: [alarm, clear].map((event) => {
          const { what, fields, updateTime, cause } = event!.data;
          return { what, fields: { "smoke.state": fields["smoke.state"] }, updateTime, cause };
        }),
      });

      const attributes = attributesOf(hearing);
      await others.until(attributes.length);
      assert.deepEqual(
        others.events,
        others.events.filter(({ name }) => name === "attribute"),
      );
      assert.deepEqual(attributesOf(others), attributes);
      for (const [nth, stream] of ofEach.entries()) {
        const heard = alarmThings[nth] === thingId ? [alarm, clear] : [];
        await stream.until(heard.length, ({ name }) => name === "thing");
        await stream.until(attributes.length, ({ name }) => name === "attribute");
        assert.deepEqual(
          stream.events.filter(({ name }) => name === "thing"),
          heard,
        );
      }
    });

    it("reaches a webhook that asked for things, after the attributes of its commit, and no other", {
      timeout: 60_000,
    }, async (t) => {
      const { play, v3, deviceId } = await linkedHome(t, database);
      const [hearing, other] = [await receiver(t), await receiver(t)];
      const addWebhook = async (webhook: object) => {
        const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(webhook) };
        const { status, body } = await v3.call("/webhooks", init);
        assert.equal(status, 201, JSON.stringify(body));
        return body;
      };
      const { webhookId, things } = await addWebhook({ url: hearing.url, things: true });
      assert.equal(things, true);
      assert.ok(!("things" in (await addWebhook({ url: other.url }))));
      assert.deepEqual(
        (await v3.call("/webhooks")).body.webhooks.map((one: { things?: true }) => one.things),
        [true, undefined],
      );
      await play("smoke");
      await play("clear");
      await hearing.until(4);
      await other.until(2);
      const shown = ({ received }: typeof hearing) =>
        received.map(({ message: { type, data } }) => [type, data.things?.[0].fields["smoke.state"].value]);
      const [smokeAttributes, smokeThings] = hearing.received;
      assert.deepEqual(shown(hearing), [
        ["attribute", undefined],
        ["thing", "alarm"],
        ["attribute", undefined],
        ["thing", "clear"],
      ]);
      const { message } = smokeThings!;
      assert.deepEqual(Object.keys(message.data), ["deviceId", "updateTime", "cause", "things"]);
      assert.equal(message.data.updateTime, smokeAttributes?.message.data.updateTime);
      assert.deepEqual(
        other.received.map(({ body }) => body),
        hearing.received.filter(({ message }) => message.type === "attribute").map(({ body }) => body),
      );
      const { body } = await v3.call(`/webhooks/${webhookId}/deliveries`);
      assert.deepEqual(
        body.deliveries.map((one: { type: string; deviceId: number }) => [one.type, one.deviceId]),
        ["thing", "attribute", "thing", "attribute"].map((type) => [type, deviceId]),
      );
    });

    it("is resumed after every event without a gap or a repetition, also after a restart", {
      timeout: 60_000,
    }, async (t) => {
      const { story, play, open } = await linkedHome(t, database);
      const first = await open("?things=true");
      const [beginning] = await first.until(1, () => true);
      await play("smoke");
      await play("clear");
      await first.until(2, isSmokeState);
      first.close();
      await story.restart();
      const last = first.events.findLastIndex(isSmokeState);
      const all = first.events.slice(0, last + 1);
      assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
      for (const [i, { id }] of [beginning!, ...all.slice(0, -1)].entries()) {
        const resumed = await open("?things=true", id);
        assert.deepEqual((await resumed.until(all.length - i)).slice(0, all.length - i), all.slice(i), `after ${i}`);
        resumed.close();
      }
    });
  });
}

async function linkedHome(t: TestContext, database: Deployment) {
  const story = await world(t, { database, allowsPrivateWebhooks: true, structures: [{ thermostats: 1, alarms: 2 }] });
  const v3 = await clientOfUser(() => story.service, "Story", person);
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
  const { body } = await v3.call("/things?kind=alarm");
  const alarmThings: readonly string[] = body.things.map(({ thingId }: { thingId: string }) => thingId);
  assert.equal(alarmThings.length, 2);
  return {
    story,
    deviceId,
    alarmThings,
    v3,
    /** Plays a scene, and waits until the service shows it. */
    async play(scene: "smoke" | "clear") {
      await story.simulator.playScene(story.accountId, { scene });
      await eventually(t.signal, async () => {
        const { attributes } = await story.client.device(deviceId);
        assert.equal(attributes.get("o.structures[1].emergencies.smoke")?.value, String(scene === "smoke"));
      });
    },
    open: (query = "", lastEventId?: string) =>
      EventStream.open(story.service.baseUrl, v3.accessToken, { query, ...(lastEventId && { lastEventId }) }),
  };
}

function isSmokeState({ name, data }: ReceivedEvent): boolean {
  return name === "thing" && data.fields["smoke.state"] !== undefined;
}

function smokeState(event: ReceivedEvent | undefined): unknown {
  return event?.data.fields["smoke.state"].value;
}

function attributesOf({ received }: EventStream): readonly object[] {
  return received.filter(({ name }) => name === "attribute").map(({ data }) => data);
}
