import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "../events/event-stream.ts";
import { receiver } from "../events/receiver.ts";
import { linkedInstance } from "./linked-instance.ts";
import { controlScope } from "./thing-client.ts";
import { databases, eventually } from "./world.ts";

const json = (body: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

for (const database of databases) {
  describe(`smoke in a linked Home Assistant on ${database}`, () => {
    it("reaches the stream, the webhook and the alert as an emergency, also within a flood", {
      timeout: 90_000,
    }, async (t) => {
      const scope = `${controlScope} alerts webhooks`;
      const { story, simulator, client, attributes } = await linkedInstance(t, {
        database,
        scope,
        allowsPrivateWebhooks: true,
      });
      const { v3 } = client;
      const lamp = await story.addLamp();
      const [{ thingId }] = await client.ofKind("alarm");
      const heard = await receiver(t);
      assert.equal((await v3.call("/webhooks", json({ url: heard.url, things: true, deviceIds: [] }))).status, 201);
      const stream = await EventStream.open(story.service.baseUrl, v3.accessToken, { query: "?things=true" });
      const targets = [{ deviceId: lamp, attrName: "siren", value: "on" }];
      const rule = { operation: "equals", stringThreshold: "alarm", action: "attribute", targets, autoDisarm: true };
      const added = await v3.call("/alerts", json({ thingId, field: "smoke.state", ...rule }));
      assert.equal(added.status, 201, JSON.stringify(added.body));

      simulator.flood("light.ceiling", 2_048);
      simulator.playScene("smoke");
      simulator.flood("light.ceiling", 2_048);
      const [firing] = await stream.until(1, ({ name }) => name === "alert");
      assert.deepEqual([firing!.data.thingId, firing!.data.value], [thingId, "alarm"]);
      await eventually(t.signal, async () => {
        const messages = heard.received.map(({ message }) => message);
        const things = messages.flatMap(({ type, data }) => (type === "thing" ? (data.things ?? []) : []));
        const smoke = things
          .filter((thing) => thing.thingId === thingId)
          .map(({ fields }) => fields["smoke.state"]?.value);
        assert.ok(smoke.includes("alarm"), JSON.stringify(messages));
        assert.ok(messages.some(({ type }) => type === "alert"));
        assert.equal((await v3.attributes(lamp)).siren?.value, "on");
        assert.equal((await attributes())["o.structures[1].emergencies.smoke"], "true");
      });
    });
  });
}

describe("commands to a linked Home Assistant", { timeout: 180_000 }, () => {
  it("to an entity that the instance has lost silently are rejected, and never confirmed", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t);
    // The instance answers success for an entity that does not exist.
    simulator.instance.states.delete("climate.hallway");
    const lost = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 25 });
    const { error } = await client.until(t.signal, lost, "rejected");
    assert.match(error.words, /no longer has this entity/);
  });

  it("to an entity that was removed are rejected", async (t) => {
    const { simulator, client } = await linkedInstance(t);
    const [kettle] = await client.ofKind("switch");
    simulator.instance.deleteEntity("switch.kettle");
    await eventually(t.signal, async () => {
      const { body } = await client.post(kettle.thingId, { trait: "onOff", command: "set", params: { on: true } });
      assert.equal(body.error?.code ?? body.state, "unknownThing", JSON.stringify(body));
    });
  });

  it("switch lights, switches and fans, each confirmed by its own state", async (t) => {
    const { simulator, client } = await linkedInstance(t);
    const { states } = simulator.instance;
    const [[light], [kettle], [fan]] = [
      await client.ofKind("light"),
      await client.ofKind("switch"),
      await client.ofKind("fan"),
    ];
    const commands = [
      await client.send(light.thingId, "brightness", "set", { percent: 80 }),
      await client.send(kettle.thingId, "onOff", "set", { on: true }),
      await client.send(fan.thingId, "fan", "setPercent", { percent: 75 }),
    ];
    for (const command of commands) await client.until(t.signal, command, "confirmed");
    assert.deepEqual(
      [states.get("light.ceiling")!.attributes.brightness, states.get("switch.kettle")!.state],
      [204, "on"],
    );
    assert.equal(states.get("fan.bedroom")!.attributes.percentage, 75);
  });

  it("are in the unit of the instance, also after a person has changed it", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t, { instance: { temperatureUnit: "°F" } });
    const state = () => client.state(thermostatId, "thermostat");
    const target = () => simulator.instance.states.get("climate.hallway")!.attributes.temperature;
    assert.equal((await state()).targetCelsius, 20);
    const warmer = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 21 });
    await client.until(t.signal, warmer, "confirmed");
    assert.equal(target(), 70);
    simulator.playScene("celsius");
    await eventually(t.signal, async () => assert.equal((await state()).targetCelsius, 21));
    const warm = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 23.5 });
    await client.until(t.signal, warm, "confirmed");
    assert.equal(target(), 23.5);
  });
});
