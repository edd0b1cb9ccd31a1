import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InstanceHome, readConfig } from "../../../src/ecosystems/home-assistant/instance-home.ts";

const registries = { entities: new Map(), devices: new Map(), areas: new Map() };
const config = readConfig({ state: "RUNNING", unit_system: { temperature: "°C" } })!;

function load(lights: number, alarms: number) {
  const home = new InstanceHome();
  const light = (n: number) => ({ entity_id: `light.a${n}`, attributes: {} });
  const alarm = (n: number) => ({ entity_id: `binary_sensor.a${n}`, attributes: { device_class: "smoke" } });
  const states = [
    ...Array.from({ length: lights }, (_, n) => light(n)),
    ...Array.from({ length: alarms }, (_, n) => alarm(n)),
  ];
  return { home, states, subscribed: home.load(registries, config, states) };
}

describe("an instance with more entities than a home has", () => {
  it("is mirrored in part, sensors of danger first, and is not read again for the rest", () => {
    const { home, states, subscribed } = load(20_000, 3);
    assert.equal(subscribed.length, 5_001, "with the zone");
    for (const n of [0, 1, 2]) assert.ok(subscribed.includes(`binary_sensor.a${n}`));
    assert.equal(home.lacksEntity(states), false);
  });

  it("has its events parsed at once when the search for alarms would take longer", () => {
    const { home } = load(0, 1_000);
    assert.equal(home.mayAlarm("light.kitchen"), false);
    assert.equal(home.mayAlarm("… binary_sensor.a999 …"), true);
    assert.equal(home.mayAlarm("x".repeat(2_000_000)), true);
  });
});
