import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandedHouse, ThingClient } from "./thing-client.ts";
import { addOlderClient, authorize, clientOfUser } from "./v3-client.ts";
import { deployments, eventually, longSuiteOn, person } from "./world.ts";

const requestWrite = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`a command to a thing on ${database}`, () => {
    it("is confirmed when the ecosystem shows mode, target, eco and fan", async (t) => {
      const { client, thingId, received } = await commandedHouse(t, { database });
      // Chained as assistants chain them: the target is for the mode that is not shown yet.
      const mode = await client.send(thingId, "thermostat", "setMode", { mode: "cool" });
      const target = await client.send(thingId, "thermostat", "setTarget", { celsius: 23.4 });
      assert.deepEqual([mode.state, target.state], ["queued", "queued"]);
      await client.until(t.signal, mode, "confirmed");
      const { sentTime, settledTime, requestedTime, error } = await client.until(t.signal, target, "confirmed");
      assert.equal(error, null);
      assert.ok(requestedTime <= sentTime && sentTime <= settledTime);
      const cooling = await client.state(thingId, "thermostat");
      assert.deepEqual([cooling.mode, cooling.coolCelsius, cooling.targetCelsius], ["cool", 23.5, 23.5]);
      assert.deepEqual(received(), [{ hvac_mode: "cool" }, { target_temperature_c: 23.5 }]);

      const pair = await client.send(thingId, "thermostat", "setMode", { mode: "heatCool" });
      await client.until(t.signal, pair, "confirmed");
      const both = await client.send(thingId, "thermostat", "setTarget", { heatCelsius: 19, coolCelsius: 24 });
      await client.until(t.signal, both, "confirmed");
      assert.deepEqual(received().at(-1), { target_temperature_low_c: 19, target_temperature_high_c: 24 });
      const warmer = await client.send(thingId, "thermostat", "adjustTarget", { deltaCelsius: 1 });
      await client.until(t.signal, warmer, "confirmed");
      assert.deepEqual(received().at(-1), { target_temperature_low_c: 20, target_temperature_high_c: 25 });

      const eco = await client.send(thingId, "thermostat", "setMode", { mode: "eco" });
      await client.until(t.signal, eco, "confirmed");
      const inEco = await client.send(thingId, "thermostat", "setTarget", { celsius: 20 });
      assert.deepEqual([inEco.state, inEco.error.code, inEco.error.mode], ["rejected", "notInMode", "eco"]);
      const heat = await client.send(thingId, "thermostat", "setMode", { mode: "heat" });
      await client.until(t.signal, heat, "confirmed");

      const fan = await client.send(thingId, "fanTimer", "start", { minutes: 30 });
      await client.until(t.signal, fan, "confirmed");
      assert.deepEqual(received().at(-1), { fan_timer_active: true, fan_timer_duration: 30 });
      const again = await client.send(thingId, "fanTimer", "start", { minutes: 30 });
      await client.until(t.signal, again, "confirmed");
      const receipts = (await client.v3.call(`/things/${thingId}/commands`)).body.commands;
      assert.deepEqual(
        receipts.slice(0, 2).map(({ commandId }: { commandId: string }) => commandId),
        [again.commandId, fan.commandId],
      );
    });

    it("is rejected in the ecosystem's words, by its rate limit, and by what the thing can do", async (t) => {
      const { story, client, thingId, received } = await commandedHouse(t, { database });
      const { simulator, accountId } = story;
      const hot = await client.send(thingId, "thermostat", "setTarget", { celsius: 40 });
      assert.deepEqual([hot.state, hot.error.code, hot.error.max], ["rejected", "outOfRange", 32]);
      const dry = await client.send(thingId, "thermostat", "setMode", { mode: "dry" });
      assert.deepEqual([dry.state, dry.error.code], ["rejected", "modeNotSupported"]);
      const [alarm] = await client.ofKind("alarm");
      const light = await client.send(alarm.thingId, "onOff", "set", { on: true });
      assert.deepEqual([light.state, light.error.code], ["rejected", "notSupported"]);
      assert.deepEqual(received(), []);

      await simulator.playScene(accountId, { scene: "leave" });
      const away = await client.send(thingId, "fanTimer", "start");
      const refusal = (await client.until(t.signal, away, "rejected")).error;
      assert.deepEqual(
        [refusal.code, refusal.words],
        ["notHome", "Cannot change fan_timer_active while structure is away"],
      );
      const target = await client.send(thingId, "thermostat", "setTarget", { celsius: 20 });
      const { error } = await client.until(t.signal, target, "rejected");
      assert.deepEqual(
        [error.code, error.words],
        ["refused", "Cannot change target temperature while structure is away"],
      );
      assert.match(error.text, /Cannot change target temperature while structure is away/);
      await simulator.playScene(accountId, { scene: "come-home" });

      simulator.addFault({ fault: "too-many-requests", retryAfter: "seconds", seconds: 120 });
      const blocked = await client.send(thingId, "thermostat", "setMode", { mode: "off" });
      assert.equal((await client.until(t.signal, blocked, "rejected")).error.code, "rateLimited");
      simulator.clearFaults();
      const sentBefore = received().length;
      const next = await client.send(thingId, "fanTimer", "start");
      assert.deepEqual([next.state, next.error.code], ["rejected", "rateLimited"]);
      assert.equal(received().length, sentBefore);
    });

    it("expires when the ecosystem gives no answer, and never touches requestWrite", async (t) => {
      const { story, deviceId, client, thingId, received } = await commandedHouse(t, { database });
      story.simulator.addFault({ fault: "reset-after-body", carriedOut: false } as never);
      const fan = await client.send(thingId, "fanTimer", "start");
      assert.equal((await client.until(t.signal, fan, "expired")).error.code, "noAnswer");
      assert.equal(received().length, 1);
      const attributes = await client.v3.attributes(deviceId, { attribute: requestWrite });
      assert.equal(attributes[requestWrite]?.value ?? null, null);
    });

    it("is carried out once, however often it is repeated with its key", async (t) => {
      const { client, thingId, received } = await commandedHouse(t, { database });
      const command = { trait: "fanTimer", command: "start", params: {} };
      const key = { "idempotency-key": "start the fan" };
      const [first, second] = [await client.post(thingId, command, key), await client.post(thingId, command, key)];
      assert.deepEqual([first.status, second.status], [202, 202]);
      assert.deepEqual(second.body, first.body);
      await client.until(t.signal, first.body, "confirmed");
      assert.deepEqual((await client.post(thingId, command, key)).body, first.body);
      const other = await client.post(thingId, { ...command, command: "stop" }, key);
      assert.equal(other.body.error, "idempotency_key_reused");
      assert.equal(received().length, 1);
    });
  });
}

describe("a command to a thing", () => {
  it("other than for a fan needs a token with a scope", async (t) => {
    const { story, client, thingId, received } = await commandedHouse(t);
    const older = await addOlderClient(story.service, "Story");
    const legacy = new ThingClient(await authorize(() => story.service.baseUrl, older, person));
    const mode = { trait: "thermostat", command: "setMode", params: { mode: "off" } };
    const { status, body } = await legacy.post(thingId, mode);
    assert.deepEqual([status, body.error], [403, "insufficient_scope"]);
    await legacy.until(t.signal, await legacy.send(thingId, "fanTimer", "start"), "confirmed");
    const reader = new ThingClient(await clientOfUser(() => story.service, "Story", person, "devices:read"));
    assert.equal((await reader.post(thingId, { trait: "fanTimer", command: "stop" })).status, 403);
    assert.equal((await client.post(thingId, mode)).status, 202);
    await eventually(t.signal, async () => assert.equal(received().length, 2));
  });

  it("that is malformed gets a clear error and changes nothing", async (t) => {
    const { client, thingId, received } = await commandedHouse(t);
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ trait: "engine", command: "start" }, /there is no such trait/],
      [{ trait: "fanTimer", command: "jump" }, /fanTimer has only the commands start, stop/],
      [{ trait: "fanTimer", command: "start", params: { minutes: "5" } }, /"minutes" must be a number/],
      [{ trait: "fanTimer", command: "start", params: { seconds: 5 } }, /not a parameter of this command/],
      [{ trait: "fanTimer", command: "start", priority: 1 }, /only trait, command and params/],
      [{ command: "start" }, /trait must be a text/],
      [[], /must be a JSON object/],
    ];
    for (const [command, sentence] of wrong) {
      const { status, body } = await client.post(thingId, command);
      assert.deepEqual([status, body.error], [400, "invalid_request"], JSON.stringify(body));
      assert.match(body.error_description, sentence);
    }
    assert.deepEqual((await client.v3.call(`/things/${thingId}/commands`)).body.commands, []);
    for (const id of ["c1", "f1", "x1", "c0", "c99999999999", "%00"]) {
      assert.equal((await client.v3.call(`/things/${thingId}/commands/${id}`)).status, 404, id);
    }
    assert.deepEqual(received(), []);
  });
});
