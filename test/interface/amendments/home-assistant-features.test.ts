import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Attributes, EntityEntry, Instance } from "../../../simulator/home-assistant/instance.ts";
import { linkedInstance } from "../../stories/linked-instance.ts";
import { eventually } from "../../stories/world.ts";

type Linked = Awaited<ReturnType<typeof linkedInstance>>;

/** A linked instance without other devices. */
async function emptyInstance(t: TestContext, fill: (instance: Instance) => void): Promise<Linked> {
  return linkedInstance(t, { instance: { isFurnished: false }, fill });
}

async function thingNamed({ client }: Linked, name: string) {
  const { body } = await client.v3.call("/things");
  const found = body.things.find((thing: { readonly name: string }) => thing.name === name);
  assert.ok(found, `${name} in ${JSON.stringify(body.things.map((thing: { readonly name: string }) => thing.name))}`);
  return found;
}

const climate: Attributes = {
  current_temperature: 20.5,
  hvac_modes: ["off", "heat", "cool", "heat_cool"],
  min_temp: 7,
  max_temp: 32,
  target_temp_step: 0.5,
};

function addThermostat(instance: Instance, state: string, attributes: Attributes): void {
  instance.addEntity("climate.den", state, { friendly_name: "Den", ...climate, ...attributes });
}

function addFan(instance: Instance, attributes: Attributes, entry: Partial<EntityEntry> = {}): void {
  instance.addEntity("fan.attic", "on", { friendly_name: "Attic fan", ...attributes }, entry);
}

/** Sends a command that must be refused at once, without a call to the instance. */
async function assertRefused(
  { simulator, client }: Linked,
  [thingId, trait, command, params]: readonly [thingId: string, trait: string, command: string, params: object],
  text: RegExp,
): Promise<void> {
  const before = new Map(simulator.instance.states);
  const { state, error } = await client.send(thingId, trait, command, params);
  assert.deepEqual([state, error.code], ["rejected", "notSupported"], JSON.stringify(error));
  assert.match(error.text, text);
  assert.deepEqual(new Map(simulator.instance.states), before);
}

describe("settled: supported_features decide", () => {
  it("offers no target of a climate without the feature", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      const kitchen = { fan_modes: ["low", "high"], fan_mode: "low", min_temp: 0, max_temp: 1 };
      addThermostat(instance, "heat", { ...kitchen, supported_features: 8 | 128 | 256 });
    });
    const { thingId, traits } = await thingNamed(linked, "Den");
    const { single, dual, minHeatCelsius, maxCoolCelsius } = traits.thermostat.capabilities;
    assert.deepEqual([single, dual, minHeatCelsius, maxCoolCelsius], [false, false, null, null]);
    const text = /does not accept thermostat\.setTarget: it has no target temperature that can be set\./;
    await assertRefused(linked, [thingId, "thermostat", "setTarget", { celsius: 21 }], text);
    await assertRefused(
      linked,
      [thingId, "thermostat", "setPreset", { preset: "eco" }],
      /it has no presets|no presets/,
    );
    const fan = await linked.client.send(thingId, "fan", "setMode", { mode: "high" });
    await linked.client.until(t.signal, fan, "confirmed");
  });

  it("offers one target, and no pair, of a climate without ranges", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      addThermostat(instance, "heat_cool", { temperature: 21, supported_features: 1 | 128 | 256 });
    });
    const { thingId, traits } = await thingNamed(linked, "Den");
    assert.deepEqual([traits.thermostat.capabilities.single, traits.thermostat.capabilities.dual], [true, false]);
    const pair = { heatCelsius: 19, coolCelsius: 24 };
    const text = /the thing has one target for heating and cooling/;
    await assertRefused(linked, [thingId, "thermostat", "setTarget", pair], text);
    const target = await linked.client.send(thingId, "thermostat", "setTarget", { celsius: 22 });
    await linked.client.until(t.signal, target, "confirmed");
    assert.equal(linked.simulator.instance.states.get("climate.den")!.attributes.temperature, 22);
  });

  it("offers a pair, and no single target, of a climate that has only ranges", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      addThermostat(instance, "heat_cool", { target_temp_low: 19, target_temp_high: 24, supported_features: 2 });
    });
    const { thingId, traits } = await thingNamed(linked, "Den");
    assert.deepEqual([traits.thermostat.capabilities.single, traits.thermostat.capabilities.dual], [false, true]);
    const pair = await linked.client.send(thingId, "thermostat", "setTarget", { heatCelsius: 20, coolCelsius: 25 });
    await linked.client.until(t.signal, pair, "confirmed");
    linked.simulator.instance.change("climate.den", "cool");
    await eventually(t.signal, async () => {
      assert.equal((await linked.client.state(thingId, "thermostat")).mode, "cool");
    });
    const text = /it has targets only in the mode heatCool/;
    await assertRefused(linked, [thingId, "thermostat", "setTarget", { celsius: 22 }], text);
    await assertRefused(linked, [thingId, "thermostat", "adjustTarget", { deltaCelsius: 1 }], text);
  });

  it("does not switch a fan that cannot be switched, and sets its speed", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      addFan(instance, { percentage: 50, percentage_step: 25, preset_modes: ["auto"], supported_features: 1 });
    });
    const { thingId, traits } = await thingNamed(linked, "Attic fan");
    assert.equal(traits.onOff.capabilities.readOnly, true);
    assert.deepEqual(traits.fan.capabilities, { modes: null, percentStep: 25 });
    for (const on of [true, false]) {
      await assertRefused(linked, [thingId, "onOff", "set", { on }], /it can't be switched from outside/);
    }
    await assertRefused(linked, [thingId, "fan", "setMode", { mode: "auto" }], /the fan has no modes/);
    const speed = await linked.client.send(thingId, "fan", "setPercent", { percent: 75 });
    await linked.client.until(t.signal, speed, "confirmed");
  });

  it("sets no speed of a fan without the feature", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      const attributes = { percentage: 50, preset_modes: ["slow", "fast"], preset_mode: "slow" };
      addFan(instance, { ...attributes, supported_features: 8 | 16 | 32 });
    });
    const { thingId } = await thingNamed(linked, "Attic fan");
    await assertRefused(linked, [thingId, "fan", "setPercent", { percent: 75 }], /the fan has no speed/);
    const off = await linked.client.send(thingId, "onOff", "set", { on: false });
    await linked.client.until(t.signal, off, "confirmed");
    const fast = await linked.client.send(thingId, "fan", "setMode", { mode: "fast" });
    await linked.client.until(t.signal, fast, "confirmed");
  });

  it("turns a fan only on that cannot be turned off", async (t) => {
    const linked = await emptyInstance(t, (instance) => addFan(instance, { supported_features: 32 }));
    const { thingId } = await thingNamed(linked, "Attic fan");
    linked.simulator.instance.change("fan.attic", "off");
    const on = await linked.client.send(thingId, "onOff", "set", { on: true });
    await linked.client.until(t.signal, on, "confirmed");
    const off = await linked.client.send(thingId, "onOff", "set", { on: false });
    const { error } = await linked.client.until(t.signal, off, "rejected");
    assert.equal(error.code, "notSupported");
    assert.match(error.text, /does not accept onOff\.set: the fan can't be turned off\./);
    assert.equal(linked.simulator.instance.states.get("fan.attic")!.state, "on");
  });

  it("switches any fan of a version that has no features for it", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      instance.version = "2024.3.3";
      addFan(instance, { percentage: 50, percentage_step: 25, supported_features: 1 });
    });
    const { thingId, traits } = await thingNamed(linked, "Attic fan");
    assert.equal(traits.onOff.capabilities.readOnly, false);
    const off = await linked.client.send(thingId, "onOff", "set", { on: false });
    await linked.client.until(t.signal, off, "confirmed");
  });

  it("dims a light by its color modes", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      const light = { brightness: 128, color_mode: "onoff", supported_color_modes: ["onoff"] };
      instance.addEntity("light.shed", "on", { friendly_name: "Shed", ...light });
      const tunable = { brightness: null, supported_color_modes: ["color_temp"], supported_features: 0 };
      instance.addEntity("light.desk", "on", { friendly_name: "Desk", ...tunable });
    });
    const shed = await thingNamed(linked, "Shed");
    assert.deepEqual(Object.keys(shed.traits), ["onOff"]);
    const text = /the thing has no trait brightness/;
    await assertRefused(linked, [shed.thingId, "brightness", "set", { percent: 40 }], text);
    const desk = await thingNamed(linked, "Desk");
    const dim = await linked.client.send(desk.thingId, "brightness", "set", { percent: 40 });
    await linked.client.until(t.signal, dim, "confirmed");
  });

  it("refuses a write of requestWrite that the fan of the thermostat cannot carry out", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      const device_id = instance.addDevice({ name: "Den" });
      const attributes = { friendly_name: "Den", ...climate, temperature: 21, supported_features: 1 | 128 | 256 };
      instance.addEntity("climate.den", "heat", attributes, { device_id });
      addFan(instance, { percentage: 50, percentage_step: 25, supported_features: 1 }, { device_id });
    });
    const { client, deviceId, simulator, thermostatId } = linked;
    await assertRefused(linked, [thermostatId, "fan", "setMode", { mode: "on" }], /the fan has no modes/);
    const before = new Map(simulator.instance.states);
    await client.v3.write(deviceId, { "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": "true" });
    await eventually(t.signal, async () => {
      const [request] = (await client.v3.call(`/devices/${deviceId}/commands`)).body.commands;
      assert.deepEqual([request.state, request.text], ["rejected", "the fan has no mode on"]);
    });
    assert.deepEqual(new Map(simulator.instance.states), before);
  });
});

describe("settled: the wrong fan", () => {
  const fans: readonly (readonly [sentence: string, names: readonly string[], deviceClass?: string])[] = [
    ["is a pump by its name", ["Pump 1"]],
    ["is a pump by its device class", ["Circulation"], "pump"],
    ["is one of two of its device", ["Fan", "Booster"]],
  ];
  for (const [sentence, names, device_class] of fans) {
    it(`keeps a fan apart from the climate if it ${sentence}`, async (t) => {
      const linked = await emptyInstance(t, (instance) => {
        const device_id = instance.addDevice({ name: "Spa" });
        const attributes = { friendly_name: "Spa", ...climate, temperature: 21, supported_features: 1 | 128 | 256 };
        instance.addEntity("climate.spa", "heat", attributes, { device_id });
        for (const [i, original_name] of names.entries()) {
          const fan = { friendly_name: `Spa ${original_name}`, device_class, supported_features: 16 | 32 };
          instance.addEntity(`fan.spa_${i}`, "on", fan, { device_id, original_name });
        }
      });
      const { client, deviceId, simulator, thermostatId, attributes } = linked;
      const shown = await client.v3.call(`/things/${thermostatId}`);
      assert.equal(shown.body.traits.fan, undefined);
      assert.equal((await client.ofKind("fan")).length, names.length);
      assert.equal((await attributes())["d.structures[1].d.thermostats[1].has_fan"], "false");
      await client.v3.write(deviceId, { "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": "false" });
      const [request] = (await client.v3.call(`/devices/${deviceId}/commands`)).body.commands;
      assert.deepEqual([request.state, request.text], ["rejected", "Thermostat does not have a fan"]);
      for (const i of names.keys()) assert.equal(simulator.instance.states.get(`fan.spa_${i}`)!.state, "on");
    });
  }

  it("gives a climate the only fan of its device", async (t) => {
    const linked = await emptyInstance(t, (instance) => {
      const device_id = instance.addDevice({ name: "Den" });
      const attributes = { friendly_name: "Den", ...climate, temperature: 21, supported_features: 1 | 128 | 256 };
      instance.addEntity("climate.den", "heat", attributes, { device_id });
      addFan(instance, { supported_features: 16 | 32 }, { device_id, original_name: "Fan" });
    });
    const { client, simulator, thermostatId } = linked;
    assert.deepEqual(await client.ofKind("fan"), []);
    const off = await client.send(thermostatId, "fan", "setMode", { mode: "off" });
    await client.until(t.signal, off, "confirmed");
    assert.equal(simulator.instance.states.get("fan.attic")!.state, "off");
  });
});
