import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandedHouse, ThingClient } from "./thing-client.ts";
import { addOlderClient, authorize, clientOfUser, type V3Client } from "./v3-client.ts";
import { databases, eventually, person } from "./world.ts";

const structures = [{ thermostats: 2, alarms: 1 }];
const heat = { trait: "thermostat", command: "setMode", params: { mode: "heat" } };
const startFan = { trait: "fanTimer", command: "start", params: { minutes: 15 } };
const allFans = { kind: "thermostat", ...startFan };
const allOff = { kind: "thermostat", trait: "thermostat", command: "setMode", params: { mode: "off" } };

const post = (v3: V3Client, path: string, body: object, method = "POST") =>
  v3.call(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

const onSmoke = (thingId: string, commands: readonly object[]) => ({
  ...{ thingId, field: "smoke.state", operation: "equals", stringThreshold: "alarm", action: "note", autoDisarm: true },
  commands,
});

for (const database of databases) {
  describe(`an alert that commands things on ${database}`, () => {
    it("switches all thermostats off once when there is smoke, and their receipts name it", async (t) => {
      const { story, received } = await commandedHouse(t, { database, structures });
      const scope = "devices:read devices:control alerts";
      const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, scope));
      const [alarm] = await client.ofKind("alarm");
      const thermostats = (await client.ofKind("thermostat")).map(({ thingId }) => thingId as string);
      const created = await post(client.v3, "/alerts", onSmoke(alarm.thingId, [allOff]));
      assert.equal(created.status, 201, JSON.stringify(created.body));
      assert.deepEqual(created.body.commands, [allOff]);
      const tried = await post(client.v3, "/alerts/dry-run", onSmoke(alarm.thingId, [allOff]));
      assert.deepEqual(
        new Set(tried.body.commands.map(({ thingId }: { thingId: string }) => thingId)),
        new Set(thermostats),
      );
      assert.deepEqual(received(), []);

      await story.simulator.playScene(story.accountId, { scene: "smoke" });
      for (const thingId of thermostats) {
        const receipt = await eventually(t.signal, async () => {
          const { commands } = (await client.v3.call(`/things/${thingId}/commands`)).body;
          assert.deepEqual([commands.length, commands[0]?.state], [1, "confirmed"], JSON.stringify(commands));
          return commands[0];
        });
        assert.deepEqual(receipt.cause, { by: "alert", alert: created.body.alertId });
      }
      assert.equal(received().length, thermostats.length);
      const { body: explained } = await client.v3.call(`/alerts/${created.body.alertId}/explain`);
      assert.deepEqual([explained.alert.firings, explained.alert.commands], [1, [allOff]]);
      const { getTriggerDetailListByUserResponse: xml } = await story.client.call("getTriggerDetailListByUser", {
        secToken: story.client.secToken,
      });
      assert.ok(!JSON.stringify(xml ?? "").includes("setMode"), "platform calls do not show commands");
    });
  });
}

describe("an alert that commands things", () => {
  it("needs devices:control, and more than a fan needs the user's explicit consent", async (t) => {
    const { story, client } = await commandedHouse(t, { structures });
    const [alarm] = await client.ofKind("alarm");
    const withScope = (scope: string) => clientOfUser(() => story.service, "Story", person, scope);
    const reader = await withScope("devices:read alerts");
    const older = await addOlderClient(story.service, "Story");
    const legacy = await authorize(() => story.service.baseUrl, older, person);
    const answers = [];
    for (const v3 of [reader, legacy]) {
      for (const command of [allFans, { kind: "thermostat", ...heat }]) {
        answers.push((await post(v3, "/alerts", onSmoke(alarm.thingId, [command]))).status);
      }
    }
    assert.deepEqual(answers, [403, 403, 201, 403]);
    const plain = await post(reader, "/alerts", onSmoke(alarm.thingId, []));
    assert.deepEqual([plain.status, plain.body.commands], [201, undefined]);
    const path = `/alerts/${plain.body.alertId}`;
    assert.equal((await post(reader, path, onSmoke(alarm.thingId, [allFans]), "PUT")).status, 403);
    assert.equal((await post(legacy, path, onSmoke(alarm.thingId, [allFans]), "PUT")).status, 200);
  });

  it("is refused when its command or its target is malformed", async (t) => {
    const { story, client } = await commandedHouse(t, { structures });
    const v3 = await clientOfUser(() => story.service, "Story", person, "devices:control alerts");
    const [alarm] = await client.ofKind("alarm");
    const { thingId } = alarm;
    for (const [status, commands] of [
      [400, startFan],
      [400, [startFan]],
      [400, ["light"]],
      [400, [{ ...allFans, thingId }]],
      [400, [{ ...startFan, thingId, room: "Hall" }]],
      [400, [{ ...startFan, thingId: 7 }]],
      [400, [{ ...startFan, kind: "lamp" }]],
      [400, [{ ...allFans, room: "" }]],
      [400, [{ ...allFans, colour: "red" }]],
      [400, [{ ...allFans, command: "spin" }]],
      [400, [{ ...allFans, params: { minutes: "15" } }]],
      [400, [{ kind: "thermostat", trait: "thermostat", command: "adjustTarget", params: { deltaCelsius: 1 } }]],
      [400, Array.from({ length: 101 }, () => allFans)],
      [404, [{ ...startFan, thingId: "t_none" }]],
      [404, [{ ...startFan, thingId: "\u0000" }]],
    ] as const) {
      const { status: answered, body } = await post(v3, "/alerts", { ...onSmoke(thingId, []), commands });
      assert.equal(answered, status, JSON.stringify([commands, body]));
    }
  });
});
