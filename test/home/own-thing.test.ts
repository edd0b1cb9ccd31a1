import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { traits } from "../../src/home/catalogue.ts";
import { readMapped } from "../../src/home/mapped-value.ts";
import { isSilent, ownDescriptor, ownFieldChanges, ownState } from "../../src/home/own-thing.ts";
import { attributeSource } from "../../src/home/trait-map.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { mapOf, mapOfField, textsOf, thingOf, valuesOf } from "./own-thing-parts.ts";

describe("a field of an own device's thing", () => {
  const cases: readonly (readonly [
    what: string,
    field: `${string}.${string}`,
    source: object,
    text: string,
    value: string | number | boolean | null,
  ])[] = [
    ["a word", "onOff.on", { words: { true: "an", false: "aus" } }, "aus", false],
    ["a word of no value", "onOff.on", { words: { true: "an", false: "aus" } }, "off", null],
    ["a value that is its own word", "onOff.on", {}, "true", true],
    ["an erased attribute", "onOff.on", {}, "", null],
    ["the word of an alarm", "smoke.state", { words: { clear: "ok", alarm: "fire" } }, "fire", "alarm"],
    ["an unknown word of an alarm", "smoke.state", { words: { clear: "ok" } }, "sensor fault", "unknown"],
    ["an unknown word of a mode", "thermostat.mode", {}, "turbo", null],
    ["a number", "temperature.celsius", {}, " 21.456 ", 21.46],
    ["degrees Fahrenheit", "temperature.celsius", { unit: "fahrenheit" }, "70", 21.11],
    ["kelvin", "temperature.celsius", { unit: "kelvin" }, "273.15", 0],
    ["a level of 255", "brightness.percent", { factor: 0.392157 }, "255", 100],
    ["the lowest level of 255", "brightness.percent", { factor: 0.392157 }, "1", 1],
    ["no brightness", "brightness.percent", {}, "0", null],
    ["a percentage far outside", "humidity.percent", {}, "180", null],
    ["a percentage beside its range", "humidity.percent", {}, "100.4", 100],
    ["no number", "humidity.percent", {}, "0x10", null],
    ["an empty number", "humidity.percent", {}, " ", null],
    ["infinity", "temperature.celsius", {}, "1e999", null],
    ["own text", "indicator.color", {}, "grün", "grün"],
  ];
  for (const [what, name, source, text, value] of cases) {
    it(`shows what its attribute tells: ${what}`, () => {
      const [trait, field] = name.split(".") as ["onOff", string];
      const map = mapOfField(trait, field, { attribute: "a", ...source });
      assert.deepEqual(ownState(map, valuesOf({ a: text }), 1_000)[trait]![field], [value, 1_000]);
    });
  }

  it("can be the same for all devices of the type", () => {
    const map = mapOfField("thermostat", "mode", { value: "heat" });
    assert.deepEqual(ownState(map, { ...valuesOf({}), mapChangedMs: 7 }, 1_000).thermostat!.mode, ["heat", 7]);
  });

  it("has the time of its attribute, and is never older than the map", () => {
    const map = mapOf(traitMapTemplates.dimmer);
    const attributes = new Map([["power", { value: "on", timeMs: 500 }]]);
    const state = ownState(map, { attributes, lastTimeMs: 900, mapChangedMs: 400 }, 1_000);
    assert.deepEqual(state.onOff!.on, [true, 500]);
    assert.deepEqual(state.brightness!.percent, [null, 400]);
    assert.deepEqual(ownState(map, { attributes, lastTimeMs: 900, mapChangedMs: 600 }, 1_000).onOff!.on, [true, 600]);
  });

  it("shows the own word of an alarm beside its state", () => {
    const map = mapOfField("smoke", "state", { attribute: "a", words: { clear: "ok" } });
    const { smoke } = ownState(map, valuesOf({ a: "sensor fault" }), 1_000);
    assert.deepEqual(smoke, {
      available: [null, 0],
      state: ["unknown", 1_000],
      word: ["sensor fault", 1_000],
      ...{ testing: [null, 0], fault: [null, 0], endOfLife: [null, 0], muted: [null, 0] },
    });
  });

  it("is the target of the mode when the map has setpoints alone", () => {
    const attribute = (name: string) => ({ attribute: name });
    const map = mapOf({
      kind: "thermostat",
      traits: { thermostat: { mode: attribute("m"), heatCelsius: attribute("h"), coolCelsius: attribute("c") } },
    });
    const target = (m: string) => ownState(map, valuesOf({ m, h: "19", c: "25" }), 1_000).thermostat!.targetCelsius![0];
    assert.deepEqual([target("heat"), target("cool"), target("heatCool"), target("off")], [19, 25, null, null]);
  });

  it("is null or of its type for every text", () => {
    const maps = Object.values(traitMapTemplates).map(mapOf);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
        for (const map of maps) {
          for (const trait of Object.keys(map.traits) as (keyof typeof map.traits)[]) {
            for (const [field, { value: type }] of Object.entries(traits[trait].fields)) {
              const source = attributeSource(map, trait, field);
              const value = source ? readMapped(source.format, type, text) : null;
              if (value === null) continue;
              if (type.type === "number") assert.ok(Number.isFinite(value) && !Object.is(value, -0));
              else if (type.type === "enum") assert.ok(type.values.includes(String(value)));
              else assert.equal(typeof value, type.type === "boolean" ? "boolean" : "string");
            }
          }
        }
      }),
    );
  });
});

describe("whether an own device is available", () => {
  const on = { onOff: { on: { attribute: "power" } } };
  const available = (online: object | undefined, attributes: Record<string, string>, nowMs: number) =>
    ownState(mapOf({ kind: "light", traits: on, ...(online && { online }) }), valuesOf(attributes), nowMs).onOff!
      .available;

  it("is unknown without a rule", () => {
    assert.deepEqual(available(undefined, { power: "true" }, 1_000), [null, 0]);
  });

  it("is what its attribute says, and unknown when the attribute says something else", () => {
    const rule = { attribute: "connected", words: { true: "yes", false: "no" } };
    assert.deepEqual(available(rule, { connected: "yes" }, 1_000), [true, 1_000]);
    assert.deepEqual(available(rule, { connected: "no" }, 1_000), [false, 1_000]);
    assert.deepEqual(available(rule, { connected: "?" }, 1_000), [null, 1_000]);
    assert.deepEqual(available(rule, {}, 1_000), [null, 0]);
  });

  it("ends when the last write is older than the silence limit", () => {
    const rule = { silentAfterSeconds: 60 };
    assert.deepEqual(available(rule, {}, 61_000), [true, 1_000]);
    assert.deepEqual(available(rule, {}, 61_001), [false, 61_000]);
    assert.equal(isSilent(mapOf({ kind: "light", traits: on, online: rule }), 0, 60_001), true);
    assert.equal(isSilent(mapOf({ kind: "light", traits: on }), 0, 60_001), false);
  });
});

describe("a write to an own device", () => {
  const map = mapOf({
    kind: "alarm",
    online: { attribute: "connected" },
    traits: {
      smoke: { state: { attribute: "alarm", words: { clear: "ok", alarm: "smoke" } } },
      carbonMonoxide: { state: { attribute: "alarm", words: { clear: "ok", alarm: "co" } } },
    },
  });
  const names = (before: object, after: object, wasSilent = false) =>
    ownFieldChanges(map, textsOf({ ...before }), textsOf({ ...before, ...after }), wasSilent).map(
      ({ trait, field, value }) => `${trait}.${field}=${value}`,
    );

  it("changes the fields whose values differ, also two fields of one attribute", () => {
    assert.deepEqual(names({ alarm: "ok" }, { alarm: "smoke" }), [
      "smoke.state=alarm",
      "smoke.word=smoke",
      "carbonMonoxide.state=unknown",
      "carbonMonoxide.word=smoke",
    ]);
    assert.deepEqual(names({ alarm: "ok" }, { alarm: "ok" }), []);
    assert.deepEqual(names({ alarm: "ok" }, { colour: "red" }), []);
  });

  it("says that an alarm has become a warning", () => {
    const graded = mapOf({
      kind: "alarm",
      traits: { smoke: { state: { attribute: "smoke" } }, battery: { state: { attribute: "battery" } } },
    });
    const eased = (before: string, after: string) =>
      ownFieldChanges(graded, textsOf({ smoke: before }), textsOf({ smoke: after }), false)
        .filter(({ isEased }) => isEased)
        .map(({ trait, field }) => `${trait}.${field}`);
    assert.deepEqual(eased("alarm", "warning"), ["smoke.state"]);
    for (const [before, after] of [
      ["clear", "warning"],
      ["unknown", "warning"],
      ["warning", "alarm"],
      ["alarm", "clear"],
      ["alarm", "?"],
    ] as const) {
      assert.deepEqual(eased(before, after), [], `${before} to ${after}`);
    }
  });

  it("changes whether every trait is available", () => {
    assert.deepEqual(names({ alarm: "ok", connected: "true" }, { connected: "false" }), [
      "smoke.available=false",
      "carbonMonoxide.available=false",
    ]);
    assert.deepEqual(names({ alarm: "ok" }, {}, true), ["smoke.available=true", "carbonMonoxide.available=true"]);
  });

  it("leads to the same values as reading the state afterwards", () => {
    const anyText = fc.constantFrom("ok", "smoke", "co", "true", "false", "?", "");
    const anyAttributes = fc.dictionary(fc.constantFrom("alarm", "connected"), anyText, { maxKeys: 2 });
    fc.assert(
      fc.property(anyAttributes, anyAttributes, (before, written) => {
        const after = { ...before, ...written };
        const shown = (attributes: Record<string, string>) =>
          Object.entries(ownState(map, valuesOf(attributes), 1_000)).flatMap(([trait, fields]) =>
            Object.entries(fields).map(([field, [value]]) => [`${trait}.${field}`, value] as const),
          );
        const values = new Map(shown(before));
        for (const { trait, field, value } of ownFieldChanges(map, textsOf(before), textsOf(after), false)) {
          assert.notEqual(values.get(`${trait}.${field}`), value);
          values.set(`${trait}.${field}`, value);
        }
        assert.deepEqual([...values], shown(after));
      }),
    );
  });
});

describe("the thing of an own device", () => {
  it("has the device's name and room, the map's kind, and all capabilities of its traits", () => {
    const map = mapOf({ ...traitMapTemplates.fan, maker: "Acme", model: "F1" });
    assert.deepEqual(ownDescriptor(map, { name: "Fan", room: "Hall" }), {
      kind: "fan",
      name: "Fan",
      room: "Hall",
      homeName: null,
      maker: "Acme",
      model: "F1",
      capabilities: { onOff: { readOnly: false }, fan: { modes: null, percentStep: 1 } },
    });
    assert.equal(thingOf(map, { power: "on" }).traits.onOff!.state.on, true);
  });
});
