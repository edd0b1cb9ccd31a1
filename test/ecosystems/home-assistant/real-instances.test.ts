import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceEntry, EntityEntry, Instance } from "../../../simulator/home-assistant/instance.ts";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import type { Home } from "../../../src/home/home.ts";
import type { Thing } from "../../../src/home/thing.ts";
import { type Listening, listen } from "../listening.ts";

const smoke = { device_class: "smoke" };
const carbonMonoxide = { device_class: "carbon_monoxide" };

describe("the alarms of an instance that starts", () => {
  it("are listed as offline before their integrations have given them a state", async (t) => {
    const { simulator, read } = await emptyInstance(t);
    const { instance } = simulator;
    const device_id = instance.addDevice({ name: "Nursery alarm" });
    const id = instance.addEntity("binary_sensor.smoke", "off", smoke, { device_id });
    instance.addEntity("binary_sensor.co", "off", carbonMonoxide, { device_id });
    simulator.restart();
    assert.deepEqual(alarmsIn(await read()), { [id]: offline("Nursery alarm") });
    instance.set("binary_sensor.smoke", "off", smoke);
    const half = alarmsIn(await read())[id]!;
    assert.deepEqual([half.isOnline, half.traits.smoke?.available], [false, true]);
    simulator.finishStart();
    assert.equal(alarmsIn(await read())[id]?.isOnline, true);
  });

  it("keep the class that a person has chosen", async (t) => {
    const { simulator, read } = await emptyInstance(t);
    simulator.instance.addEntity("binary_sensor.a", "off", smoke, {
      original_device_class: null,
      device_class: "smoke",
    });
    simulator.instance.addEntity("binary_sensor.b", "off", { device_class: "door" }, { device_class: "door" });
    simulator.restart();
    assert.equal(Object.keys(alarmsIn(await read())).length, 1);
  });

  it("without a registry entry are listed as offline, as the service knows them", async (t) => {
    const { simulator, connector, access } = await emptyInstance(t);
    simulator.restart();
    const traits = { smoke: { available: true, state: { state: "clear" }, capabilities: {} } };
    const stored = new Map([["alarm/binary_sensor.attic", { name: "Attic smoke", traits: traits as Thing["traits"] }]]);
    const stream = listen(connector, access, undefined, { storedThings: async () => stored });
    t.after(stream.stop);
    const known = await heardAlarms(stream, () => true);
    assert.deepEqual(known, { "binary_sensor.attic": offline("Attic smoke") });
    simulator.instance.set("binary_sensor.attic", "on", { ...smoke, friendly_name: "Attic smoke" });
    await heardAlarms(stream, (alarms) => isSounding(alarms["binary_sensor.attic"]));
  });
});

describe("an alarm of an instance", () => {
  it("ends when its entity becomes a door", async (t) => {
    const { simulator, connector, access } = await emptyInstance(t);
    const { instance } = simulator;
    instance.addEntity("binary_sensor.back", "off", smoke);
    const stream = listen(connector, access);
    t.after(stream.stop);
    await heardAlarms(stream, (alarms) => Object.keys(alarms).length === 1);
    instance.set("binary_sensor.back", "off", { device_class: "door" });
    instance.updateEntity("binary_sensor.back", { original_device_class: "door" });
    await heardAlarms(stream, (alarms) => Object.keys(alarms).length === 0);
    simulator.restart();
    assert.deepEqual(alarmsIn(await connector.read(access, unending())), {});
  });

  it("is back at once if its entity, which has no registry entry, vanishes and returns", async (t) => {
    const { simulator, connector, access } = await emptyInstance(t);
    const { instance } = simulator;
    const state = { ...smoke, friendly_name: "Attic smoke" };
    instance.set("binary_sensor.attic", "off", state);
    const stream = listen(connector, access);
    t.after(stream.stop);
    await heardAlarms(stream, (alarms) => Object.keys(alarms).length === 1);
    instance.removeState("binary_sensor.attic");
    await heardAlarms(stream, (alarms) => Object.keys(alarms).length === 0);
    instance.set("binary_sensor.attic", "on", state);
    await heardAlarms(stream, (alarms) => isSounding(alarms["binary_sensor.attic"]));
  });

  it("keeps its CO sensor when its device gets a second smoke sensor", async (t) => {
    // The ids are random: several instances have them in different orders.
    for (let i = 0; i < 8; i++) {
      const { simulator, read } = await emptyInstance(t);
      const { instance } = simulator;
      const device_id = instance.addDevice({ name: "Hall" });
      const add = (name: string, attributes: Record<string, string>, more: Partial<EntityEntry> = {}) =>
        instance.addEntity(`binary_sensor.${name}`, "off", attributes, { device_id, platform: "mqtt", ...more });
      const helper = i % 2 === 0 ? { platform: "template", created_at: 1 } : {};
      if (i % 2 === 0) add("helper", smoke, helper);
      const id = add("smoke", smoke);
      add("co", carbonMonoxide);
      if (i % 2 === 1) add("helper", smoke);
      const alarms = alarmsIn(await read());
      const both = Object.keys(alarms).filter((key) => alarms[key]!.traits.carbonMonoxide);
      assert.deepEqual([both, Object.keys(alarms).length], [[id], 2]);
    }
  });
});

describe("the name of a thing", () => {
  const nameOf = async (
    t: TestContext,
    entry: Partial<EntityEntry>,
    friendly_name: string | undefined,
    { isStarting = false, isSole = false } = {},
  ) => {
    const { simulator, read } = await emptyInstance(t);
    const { instance } = simulator;
    const device_id = instance.addDevice({ name: "Nursery alarm" });
    const attributes = { ...smoke, ...(friendly_name !== undefined && { friendly_name }) };
    const id = instance.addEntity("binary_sensor.a", "off", attributes, { device_id, ...entry });
    if (!isSole) instance.addEntity("switch.siren", "off", { friendly_name: "Siren" }, { device_id });
    if (isStarting) {
      simulator.restart();
      simulator.restoreStates();
    }
    return alarmsIn(await read())[id]?.name;
  };
  const part = { next_name_part: "device", has_entity_name: true } as const;

  it("is the one that Home Assistant shows, and not the part of it in the registry", async (t) => {
    assert.equal(await nameOf(t, { ...part, name: "Upstairs" }, "Nursery alarm Upstairs"), "Nursery alarm Upstairs");
    const sole = { isSole: true };
    assert.equal(
      await nameOf(t, { ...part, name: "Upstairs" }, "Nursery alarm Upstairs", sole),
      "Nursery alarm Upstairs",
    );
    assert.equal(await nameOf(t, { ...part, name: "" }, "Nursery alarm"), "Nursery alarm");
    assert.equal(await nameOf(t, { name: "Upstairs" }, "Upstairs"), "Upstairs");
    assert.equal(await nameOf(t, { original_name: "Smoke" }, "Nursery alarm Smoke", sole), "Nursery alarm");
  });

  it("stays the same while the instance starts", async (t) => {
    const starting = { isStarting: true };
    const whole = "Nursery alarm Upstairs";
    assert.equal(await nameOf(t, { ...part, name: "Upstairs" }, whole, starting), whole);
    assert.equal(await nameOf(t, { ...part, name: "" }, "Nursery alarm", starting), "Nursery alarm");
    assert.equal(await nameOf(t, { original_name: "Upstairs", has_entity_name: true }, whole, starting), whole);
    assert.equal(await nameOf(t, { name: whole, has_entity_name: true }, whole, starting), whole);
    assert.equal(await nameOf(t, { original_name: "Smoke" }, "Smoke", starting), "Smoke");
  });
});

describe("child devices", () => {
  const child = (name: string, parent_device_id: string): Partial<DeviceEntry> => {
    return { name, parent_device_id, next_name_part: "parent_device" };
  };
  const addParent = (instance: Instance) => {
    const area_id = instance.addArea("Nursery");
    return instance.addDevice({ name: "Nursery alarm", manufacturer: "Acme", model: "S1", area_id });
  };

  it("make one alarm of the smoke and the CO of one parent, with its room, maker, battery and connectivity", async (t) => {
    const { simulator, read } = await emptyInstance(t);
    const { instance } = simulator;
    const parent = addParent(instance);
    const [first, second] = [
      instance.addDevice(child("Smoke part", parent)),
      instance.addDevice(child("CO part", parent)),
    ];
    const id = instance.addEntity("binary_sensor.smoke", "off", smoke, { device_id: first });
    instance.addEntity("binary_sensor.co", "on", carbonMonoxide, { device_id: second });
    const diagnostic = { device_id: parent, entity_category: "diagnostic" } as const;
    instance.addEntity("binary_sensor.low", "on", { device_class: "battery" }, diagnostic);
    instance.addEntity("binary_sensor.online", "on", { device_class: "connectivity" }, diagnostic);
    const { [id]: alarm, ...others } = alarmsIn(await read());
    assert.deepEqual(others, {});
    const { name, room, maker, model, isOnline, traits } = alarm!;
    assert.deepEqual([name, room, maker, model, isOnline], ["Nursery alarm", "Nursery", "Acme", "S1", true]);
    const states = [traits.smoke?.state.state, traits.carbonMonoxide?.state.state, traits.battery?.state.state];
    assert.deepEqual(states, ["clear", "alarm", "low"]);
    instance.change("binary_sensor.online", "off");
    assert.equal(alarmsIn(await read())[id]?.isOnline, false);
  });

  it("are things of their own otherwise, with the names of both", async (t) => {
    const { simulator, read } = await emptyInstance(t);
    const { instance } = simulator;
    const parent = addParent(instance);
    for (const name of ["Lamp", "Siren"]) {
      const device_id = instance.addDevice(child(name, parent));
      instance.addEntity(`switch.${name}`.toLowerCase(), "on", {}, { device_id });
    }
    const { others } = await read();
    const names = [...others!.byId.values()].map((one) => one.isRead && [one.object.name, one.object.room]);
    assert.deepEqual(names.toSorted(), [
      ["Nursery alarm Lamp", "Nursery"],
      ["Nursery alarm Siren", "Nursery"],
    ]);
  });
});

async function emptyInstance(t: TestContext) {
  const simulator = await startHomeAssistant({ isFurnished: false });
  t.after(() => simulator.stop());
  const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true });
  const access = `${simulator.url} ${simulator.tokens.addLongLived()}`;
  return { simulator, connector, access, read: () => connector.read(access, unending()) };
}

/** The alarms of the last home, as soon as they fit. */
async function heardAlarms(stream: Listening, fits: (alarms: ReturnType<typeof alarmsIn>) => boolean) {
  for (;;) {
    const home = stream.heard.findLast((one) => typeof one !== "string");
    if (home && fits(alarmsIn(home))) return alarmsIn(home);
    await stream.until(stream.heard.length + 1);
  }
}

function isSounding(alarm: Thing | undefined): boolean {
  return alarm?.isOnline === true && alarm.name === "Attic smoke" && alarm.traits.smoke?.state.state === "alarm";
}

function alarmsIn({ alarms }: Home): Readonly<Record<string, Thing>> {
  const read = [...alarms.byId].flatMap(([id, reading]) => (reading.isRead ? [[id, reading.object] as const] : []));
  return Object.fromEntries(read);
}

/** An alarm of which nothing is known on this connection. */
function offline(name: string): Thing {
  return {
    ...{ kind: "alarm", structureId: "home", name, room: null, maker: null, model: null },
    ...{ integration: name === "Attic smoke" ? null : "demo", isOnline: false, traits: {} },
  };
}

function unending(): AbortSignal {
  return new AbortController().signal;
}
