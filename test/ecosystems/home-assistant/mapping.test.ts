import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { compressedDifference, compressedState } from "../../../simulator/home-assistant/compressed-state.ts";
import { alarmTrait } from "../../../src/ecosystems/home-assistant/domains/alarm.ts";
import { tellsFanSwitching } from "../../../src/ecosystems/home-assistant/domains/fan.ts";
import { presenceOf } from "../../../src/ecosystems/home-assistant/domains/presence.ts";
import { fromCelsius, toCelsius } from "../../../src/ecosystems/home-assistant/domains/values.ts";
import { EntityStates, type EntityView } from "../../../src/ecosystems/home-assistant/entity-states.ts";
import { groupEntities } from "../../../src/ecosystems/home-assistant/grouping.ts";
import { type Entity, unregistered } from "../../../src/ecosystems/home-assistant/registries.ts";
import type { Role } from "../../../src/ecosystems/home-assistant/roles.ts";
import { thingOf } from "../../../src/ecosystems/home-assistant/things.ts";
import { noConditions } from "../../../src/home/traits/alarm-states.ts";
import { finished } from "../immediate-turns.ts";

const attributes = fc.dictionary(
  fc.constantFrom("brightness", "fan_mode", "preset_mode", "temperature"),
  fc.oneof(fc.integer(), fc.string()),
  {
    noNullPrototype: true,
  },
);
const states = fc.array(fc.record({ state: fc.constantFrom("on", "off", "heat"), attributes }), { minLength: 1 });

describe("the states of entities", () => {
  it("are the same after differences as after the whole state", () => {
    fc.assert(
      fc.property(states, (sequence) => {
        const found = new EntityStates();
        found.begin(new Map([["switch.x", { id: "x" }]]));
        const timed = sequence.map((one, i) => ({ ...one, contextId: `c${i}`, lastChanged: i, lastUpdated: i }));
        finished(found.apply({ a: { "switch.x": compressedState(timed[0]!) } }));
        for (let i = 1; i < timed.length; i++) {
          finished(found.apply({ c: { "switch.x": compressedDifference(timed[i - 1]!, timed[i]!) } }));
        }
        const { lastState, contextId } = found.view("switch.x");
        const { state, attributes } = timed.at(-1)!;
        assert.deepEqual(
          [lastState?.state, lastState?.attributes, contextId],
          [state, attributes, `c${timed.length - 1}`],
        );
      }),
    );
  });

  for (const lost of [{ s: "unavailable" }, { s: "unknown" }, { s: "20", a: { restored: true } }]) {
    it(`keep the last values, not fresh, after ${JSON.stringify(lost)}`, () => {
      const found = new EntityStates();
      found.begin(new Map([["sensor.x", { id: "x" }]]));
      finished(found.apply({ a: { "sensor.x": { s: "19", a: {} } } }));
      finished(found.apply({ a: { "sensor.x": { a: {}, ...lost } } }));
      const { lastState, isFresh } = found.view("sensor.x");
      assert.deepEqual([lastState?.state, isFresh], ["19", false]);
    });
  }
});

describe("the values of an entity that vanishes", () => {
  const after = (id: string) => {
    const found = new EntityStates();
    const entities = new Map([["sensor.x", { id }]]);
    found.begin(entities);
    finished(found.apply({ a: { "sensor.x": { s: "19", a: {} } } }));
    finished(found.apply({ r: ["sensor.x"] }));
    found.begin(entities);
    return found.view("sensor.x").lastState?.state;
  };

  it("stay if it has a registry entry", () => assert.equal(after("random"), "19"));

  it("are forgotten if it has none: an instance could have new ones for ever", () => {
    assert.equal(after("sensor.x"), undefined);
  });
});

describe("the things of an instance", () => {
  const groupsOf = (...entities: readonly (readonly [id: string, role: Role, more?: Partial<Entity>])[]) => {
    const roled = entities.map(([id, role, more]) => {
      return { role, entity: { ...unregistered(id), deviceId: "d", ...more } };
    });
    const device = { rootId: "d", areaId: null, name: "D", maker: null, model: null };
    const groups = groupEntities(roled, { entities: new Map(), devices: new Map([["d", device]]), areas: new Map() });
    return groups.map(
      ({ kind, primary, parts }) => `${kind} ${primary.id}: ${Object.keys(parts).toSorted().join(" ")}`,
    );
  };

  const cases: readonly (readonly [sentence: string, found: readonly string[], expected: readonly string[]])[] = [
    [
      "a climate absorbs the fan, the temperature and the battery of its device",
      groupsOf(["c", "climate"], ["f", "fan"], ["t", "temperature"], ["b", "batteryLow", { category: "diagnostic" }]),
      ["thermostat c: batteryLow climate fan temperature"],
    ],
    [
      "a climate absorbs none of two fans",
      groupsOf(["c", "climate"], ["f", "fan"], ["g", "fan"]),
      ["thermostat c: climate", "fan f: fan", "fan g: fan"],
    ],
    ...(["name", "originalName", "translationKey", "entityId"] as const).flatMap((name) => {
      const groupsWith = (text: string) => groupsOf(["c", "climate"], ["f", "fan", { [name]: text }]);
      const apart = ["thermostat c: climate", "fan f: fan"];
      const pumps = [
        "Pump 1",
        "Umwälzpumpe",
        "pompe de circulation",
        "Pompa di circolazione",
        "fan.bomba_piscina",
        "Heat pump: circulation pump",
      ];
      const fans = [
        "Fan",
        "Heat pump",
        "fan.warmepumpe",
        "fan.pompe_a_chaleur",
        "Bomba de calor",
        "warmtepomp",
        "Värmepump",
      ];
      return [
        ...pumps.map((text) => [`a climate absorbs no fan with the ${name} ${text}`, groupsWith(text), apart] as const),
        ...fans.map((text) => {
          return [
            `a climate absorbs a fan with the ${name} ${text}`,
            groupsWith(text),
            ["thermostat c: climate fan"],
          ] as const;
        }),
      ];
    }),
    [
      "a climate absorbs no pump, and no fan beside it",
      groupsOf(["c", "climate"], ["f", "fan"], ["p", "pump"]),
      ["thermostat c: climate", "fan f: fan", "fan p: fan"],
    ],
    ["a fan without a climate is a thing", groupsOf(["f", "fan"]), ["fan f: fan"]],
    [
      "a smoke sensor absorbs the CO sensor of its device",
      groupsOf(["m", "carbonMonoxide"], ["s", "smoke"], ["o", "connectivity"]),
      ["alarm s: carbonMonoxide connectivity smoke"],
    ],
    ["a CO sensor alone is an alarm", groupsOf(["m", "carbonMonoxide"]), ["alarm m: carbonMonoxide"]],
    [
      "several primary entities are things of their own, and what the device measures is a sensor",
      groupsOf(["l", "light"], ["s", "switch"], ["t", "temperature"], ["h", "humidity"], ["b", "batteryLevel"]),
      ["light l: batteryLevel light", "switch s: batteryLevel switch", "sensor t: batteryLevel humidity temperature"],
    ],
    [
      "disabled, hidden, configuration and diagnostic entities are left out",
      groupsOf(["a", "switch", { isLeftOut: true }], ["b", "switch", { category: "config" }], ["c", "light"]),
      ["light c: light"],
    ],
  ];
  for (const [sentence, found, expected] of cases) it(sentence, () => assert.deepEqual(found, expected));

  it("are not available while their device says that it is disconnected, and keep their values", () => {
    const roles = { s: "smoke", m: "carbonMonoxide", t: "temperature", b: "batteryLow", o: "connectivity" } as const;
    const roled = Object.entries(roles).map(([id, role]) => {
      return { role, entity: { ...unregistered(id), deviceId: "d" } };
    });
    const devices = new Map([["d", { rootId: "d", areaId: null, name: "D", maker: null, model: null }]]);
    const registries = { entities: new Map(), devices, areas: new Map() };
    const [group] = groupEntities(roled, registries);
    const found = new EntityStates();
    found.begin(new Map(Object.keys(roles).map((id) => [id, { id }])));
    const after = (states: Readonly<Record<string, string>>) => {
      finished(found.apply({ a: Object.fromEntries(Object.entries(states).map(([id, s]) => [id, { s, a: {} }])) }));
      const { isOnline, traits } = thingOf(group!, {
        ...registries,
        structureId: "home",
        unit: "C",
        tellsFanSwitching: true,
        view: (id) => found.view(id),
      });
      const { smoke, carbonMonoxide, temperature, battery } = traits;
      const values = [
        smoke?.state.state,
        carbonMonoxide?.state.state,
        temperature?.state.celsius,
        battery?.state.state,
      ];
      assert.deepEqual(values, ["alarm", "clear", 19, "ok"]);
      return [isOnline, ...[smoke, carbonMonoxide, temperature, battery].map((trait) => trait?.available)];
    };
    const available = [true, true, true, true, true];
    assert.deepEqual(after({ s: "on", m: "off", t: "19", b: "off" }), available);
    for (const unknown of ["unavailable", "unknown"]) assert.deepEqual(after({ o: unknown }), available);
    assert.deepEqual(after({ o: "on" }), available);
    assert.deepEqual(after({ o: "off" }), [false, false, false, false, false]);
    assert.deepEqual(after({ o: "unavailable" }), available, "nothing says that it is disconnected");
    assert.deepEqual(after({ o: "on", t: "unavailable" }), [true, true, true, false, true]);
    // The virtual device shows the words of both sensors, and only one attribute that says whether they are those of now.
    assert.deepEqual(after({ t: "19", s: "unknown" }), [false, false, true, true, true]);
    assert.deepEqual(after({ s: "on", m: "unknown" }), [false, true, false, true, true]);
    assert.deepEqual(after({ m: "unavailable" }), [false, true, false, true, true]);
    assert.deepEqual(after({ m: "off" }), available);
  });

  it("take an unknown word of a smoke sensor as unknown, and never as clear", () => {
    const { state } = alarmTrait({ state: "smouldering", attributes: {} }, true, noConditions);
    assert.deepEqual([state.state, state.word], ["unknown", "smouldering"]);
  });

  it("know by the version of the instance if fans have features for switching", () => {
    const newer = ["2024.8.0b1", "2024.8.3", "2024.12.5", "2025.1.0", "2026.11.0.dev0"];
    assert.deepEqual(
      newer.map(tellsFanSwitching),
      newer.map(() => true),
    );
    const older = ["2023.12.4", "2024.3.3", "2024.7.4", "dev", "", null, undefined, 2026];
    assert.deepEqual(
      older.map(tellsFanSwitching),
      older.map(() => false),
    );
  });

  it("tell nobody's absence from a zone without persons, or while a person's place is unknown", () => {
    const at = (state: string, isFresh = true): EntityView => {
      return { lastState: { state, attributes: {} }, isFresh, isReachable: true, attributes: {}, contextId: undefined };
    };
    const stateOf = (persons: readonly EntityView[], zone?: EntityView) => presenceOf(persons, zone).state.state;
    assert.equal(stateOf([], at("0")), "unknown");
    assert.equal(stateOf([], at("2")), "home");
    assert.equal(stateOf([at("not_home"), at("Work")]), "away");
    assert.equal(stateOf([at("not_home"), at("home")]), "home");
    assert.equal(stateOf([at("not_home"), at("home", false)]), "unknown");
    assert.equal(stateOf([at("home", false)], at("0")), "unknown");
    assert.equal(stateOf([at("home", false)], at("1")), "home");
    assert.equal(stateOf([at("home", false)], at("1", false)), "unknown");
    assert.equal(stateOf([]), "unknown");
  });

  it("have temperatures that survive the way to Fahrenheit and back, on whole steps", () => {
    fc.assert(
      fc.property(fc.integer({ min: 45, max: 95 }), (fahrenheit) => {
        const celsius = toCelsius(fahrenheit, "F")!;
        assert.equal(fromCelsius(celsius, "F", { min: 45, step: 1 }), fahrenheit);
      }),
    );
  });
});
