import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { linkedInstance } from "./linked-instance.ts";
import { eventually, world } from "./world.ts";

describe("a linked Home Assistant", () => {
  it("shows its things and attributes, and reports smoke", async (t) => {
    const { simulator, client, deviceId, attributes } = await linkedInstance(t);
    assert.equal((await client.ofKind("light")).length, 1);
    const [alarm] = await client.ofKind("alarm");
    assert.deepEqual([alarm.name, alarm.room, alarm.maker], ["Kitchen Protect", "Kitchen", "Nest"]);
    const before = await attributes();
    const at = (name: string) => before[`d.structures[1].${name}`];
    assert.deepEqual([at("a.name"), at("a.away")], ["Hearth Hollow", "home"]);
    const fan = [at("d.thermostats[1].has_fan"), at("d.thermostats[1].fan_timer_active")];
    assert.deepEqual([at("d.thermostats[1].name"), ...fan], ["Thermostat", "true", "false"]);
    assert.equal(at("d.smokeCoAlarms[1].smoke_alarm_state"), "ok");

    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    await eventually(t.signal, async () => {
      assert.equal((await client.state(alarm.thingId, "smoke")).state, "alarm");
      const now = await attributes();
      assert.equal(now["d.structures[1].d.smokeCoAlarms[1].smoke_alarm_state"], "emergency");
    });
    assert.ok(deviceId > 0);
  });

  it("confirms a target and a fan by the instance's states, and rejects what the thermostat can't do", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t);
    const target = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 21.5 });
    await client.until(t.signal, target, "confirmed");
    assert.equal(simulator.instance.states.get("climate.hallway")?.attributes.temperature, 21.5);
    const fan = await client.send(thermostatId, "fan", "setMode", { mode: "on" });
    await client.until(t.signal, fan, "confirmed");
    const hot = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 99 });
    assert.deepEqual([hot.state, hot.error.code], ["rejected", "outOfRange"]);
    // The range of the instance became narrower, and its state does not show it yet: the instance refuses.
    const { states } = simulator.instance;
    const climate = states.get("climate.hallway")!;
    states.set("climate.hallway", { ...climate, attributes: { ...climate.attributes, max_temp: 22 } });
    const refused = await client.until(
      t.signal,
      await client.send(thermostatId, "thermostat", "setTarget", { celsius: 25 }),
      "rejected",
    );
    assert.match(refused.error.text, /Provided temperature 25 is not valid/);
  });

  it("does not believe a success that nothing follows", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t, { clockSpeed: 30 });
    simulator.faults.ignoresCalls = true;
    const target = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 25 });
    await client.until(t.signal, target, "contradicted");
  });

  it("contradicts a command at once when the state that it caused shows something else", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t, { clockSpeed: 8 });
    simulator.faults.shownInstead = { temperature: 22 };
    const target = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 25 });
    await client.until(t.signal, target, "contradicted");
    assert.equal((await client.state(thermostatId, "thermostat")).targetCelsius, 22);
  });

  it("rejects a command to an entity that the instance has deleted, before its stream says so", async (t) => {
    const { simulator, client, thermostatId, deviceId } = await linkedInstance(t);
    const targetCelsius = Number((await client.state(thermostatId, "thermostat")).targetCelsius);
    // The instance answers success to a call for an entity that it does not have.
    simulator.faults.holdsEvents = true;
    simulator.instance.deleteEntity("climate.hallway");
    const text = /The instance no longer has this entity/;
    // The second target is the one that the thing still shows: its stored state confirms nothing.
    for (const celsius of [targetCelsius + 2, targetCelsius]) {
      const sent = await client.send(thermostatId, "thermostat", "setTarget", { celsius });
      const { error } = await client.until(t.signal, sent, "rejected");
      assert.equal(error.code, "refused");
      assert.match(error.text, text);
    }
    await client.v3.write(deviceId, { "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": "true" });
    await eventually(t.signal, async () => {
      const [request] = (await client.v3.call(`/devices/${deviceId}/commands`)).body.commands;
      assert.equal(request.state, "rejected", JSON.stringify(request));
      assert.match(request.text, text);
    });
    simulator.releaseEvents();
    await eventually(t.signal, async () => assert.deepEqual(await client.ofKind("thermostat"), []));
    const late = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 21 });
    assert.deepEqual([late.state, late.error.code], ["rejected", "unknownThing"]);
  });

  it("contradicts an accepted command as soon as the stream says that its entity is gone", async (t) => {
    const { simulator, client, thermostatId } = await linkedInstance(t);
    simulator.faults.ignoresCalls = true;
    const target = await client.send(thermostatId, "thermostat", "setTarget", { celsius: 25 });
    await client.until(t.signal, target, "accepted");
    simulator.instance.deleteEntity("climate.hallway");
    await client.until(t.signal, target, "contradicted");
  });

  it("survives a rename and a restart of the instance, and needs a new token when its token is deleted", async (t) => {
    const { story, simulator, token, client, thermostatId, attributes } = await linkedInstance(t);
    simulator.instance.renameEntity("climate.hallway", "climate.salon");
    simulator.instance.change("climate.salon", "cool");
    await eventually(t.signal, async () => {
      assert.equal((await client.state(thermostatId, "thermostat")).mode, "cool");
    });
    simulator.restart();
    await eventually(t.signal, async () => {
      const { available, mode } = await client.state(thermostatId, "thermostat");
      assert.deepEqual([available, mode], [false, "cool"]);
      const shown = await attributes();
      const alarm = (field: string) => shown[`d.structures[1].d.smokeCoAlarms[1].${field}`];
      assert.deepEqual([alarm("is_online"), alarm("smoke_alarm_state")], ["false", "ok"]);
    });
    simulator.finishStart();
    await eventually(t.signal, async () => {
      assert.equal((await client.state(thermostatId, "thermostat")).available, true);
    });
    simulator.deleteToken(token);
    await eventually(t.signal, async () => {
      assert.equal((await story.client.linkStatus("home")).state, "needs_reauth");
    });
    // Its token is not presented again, also when somebody links with it again.
    await story.client.federate("PUT", token, "home", simulator.url);
    assert.equal(simulator.tokens.failures, 1);
    // The address and the tokens are in no log line.
    assert.ok(story.logged.every((line) => !line.includes(token) && !line.includes(simulator.url)));
  });

  it("keeps values that the instance does not tell, over restarts of the instance and of Breezeway", async (t) => {
    const { story, simulator, client, thermostatId } = await linkedInstance(t);
    const { instance } = simulator;
    const [light] = await client.ofKind("light");
    const thermostat = () => client.state(thermostatId, "thermostat");
    const capabilities = async () =>
      (await client.v3.call(`/things/${thermostatId}`)).body.traits.thermostat.capabilities;
    const [{ percent }, able] = [await client.state(light.thingId, "brightness"), await capabilities()];
    instance.change("light.ceiling", "off", { brightness: null });
    instance.change("climate.hallway", "cool", { temperature: 24 });
    await eventually(t.signal, async () => {
      const { mode, heatCelsius, coolCelsius } = await thermostat();
      assert.deepEqual([mode, heatCelsius, coolCelsius], ["cool", 20, 24]);
      assert.equal((await client.state(light.thingId, "onOff")).on, false);
    });
    assert.equal((await client.state(light.thingId, "brightness")).percent, percent);

    const isAsBefore = async (available: boolean) => {
      const { mode, heatCelsius, coolCelsius, available: shown } = await thermostat();
      assert.deepEqual([shown, mode, heatCelsius, coolCelsius], [available, "cool", 20, 24]);
      assert.deepEqual(await capabilities(), able);
      assert.equal((await client.state(light.thingId, "brightness")).percent, percent);
    };
    // The instance restarts, and Breezeway too before the integrations of the instance are loaded.
    simulator.restart();
    await eventually(t.signal, () => isAsBefore(false));
    await story.restart();
    await eventually(t.signal, async () => assert.equal((await story.client.linkStatus("home")).state, "live"));
    await isAsBefore(false);
    simulator.finishStart();
    await eventually(t.signal, () => isAsBefore(true));
  });

  it("shows alarms as unavailable, and never as clear and online, while the instance starts", async (t) => {
    const { story, simulator, client, attributes } = await linkedInstance(t);
    const attic = { friendly_name: "Attic smoke", device_class: "smoke" };
    simulator.instance.set("binary_sensor.attic", "off", attic);
    // A new connection finds the entity, which has no registry entry.
    simulator.hangUp();
    const available = async () => {
      const alarms = await client.ofKind("alarm");
      const shown = alarms.map(({ name, traits }) => [name, traits.smoke.state.available.value]);
      const online = Object.entries(await attributes()).filter(([name]) =>
        /smokeCoAlarms\[\d+\]\.is_online$/.test(name),
      );
      return [...shown.toSorted(), ...online.map(([, value]) => value)];
    };
    const all = (value: boolean) => [["Attic smoke", value], ["Kitchen Protect", value], `${value}`, `${value}`];
    await eventually(t.signal, async () => assert.deepEqual(await available(), all(true)));
    simulator.restart();
    await story.restart();
    await eventually(t.signal, async () => assert.equal((await story.client.linkStatus("home")).state, "live"));
    assert.deepEqual(await available(), all(false));
    simulator.restoreStates();
    simulator.instance.set("binary_sensor.attic", "on", attic);
    await eventually(t.signal, async () => {
      const [alarm] = (await client.ofKind("alarm")).filter(({ name }) => name === "Attic smoke");
      assert.equal(alarm.traits.smoke.state.state.value, "alarm");
    });
    simulator.finishStart();
    simulator.instance.set("binary_sensor.attic", "off", attic);
    await eventually(t.signal, async () => assert.deepEqual(await available(), all(true)));
  });

  it("revokes its refresh token when it is unlinked", async (t) => {
    const { story, simulator } = await linkedInstance(t);
    await story.client.unlink("home");
    const clientId = "https://breezeway.example/";
    const { accessToken, refreshToken } = simulator.tokens.redeem(simulator.tokens.addCode(clientId), clientId)!;
    const { federation } = story.service.parts;
    await federation.link(story.userId, "home", { accessToken, refreshToken, clientId, address: simulator.url });
    const { body } = await story.client.unlink("home");
    assert.equal(body.tokenRevoked, true);
    assert.equal(simulator.tokens.refresh(refreshToken, clientId), "invalid_grant");
  });

  it("needs consent again when its user is deactivated, and presents each token once", async (t) => {
    const { story, simulator } = await linkedInstance(t);
    await story.client.unlink("home");
    const clientId = "https://breezeway.example/";
    const issued = simulator.tokens.redeem(simulator.tokens.addCode(clientId), clientId)!;
    const { federation } = story.service.parts;
    await federation.link(story.userId, "home", { ...issued, clientId, address: simulator.url });
    await eventually(t.signal, async () => assert.equal((await story.client.linkStatus("home")).state, "live"));
    simulator.tokens.isUserActive = false;
    simulator.hangUp();
    await eventually(t.signal, async () => {
      const { state, reason } = await story.client.linkStatus("home");
      assert.equal(state, "needs_reauth");
      assert.equal(reason, "the instance no longer accepts the refresh token (access_denied)");
    });
    // The access token, and the refresh token.
    assert.equal(simulator.tokens.failures, 2);
  });

  it("needs its address", async (t) => {
    const story = await world(t, { furtherEcosystems: { home: { protocol: "home-assistant" } } });
    const missing = await story.client.federate("POST", "token", "home");
    assert.deepEqual([missing.status, missing.body.errorCode], [400, 102]);
    assert.match(String(missing.body.errorMessage), /anEcosystemUrl is missing/);
    const plain = await story.client.federate("POST", "token", "home", "http://home.example");
    assert.deepEqual([plain.status, plain.body.errorCode], [400, 102]);
    const privateAddress = await story.client.federate("POST", "token", "home", "https://127.0.0.1:8123");
    assert.deepEqual([privateAddress.status, privateAddress.body.errorCode], [503, 122]);
  });
});
