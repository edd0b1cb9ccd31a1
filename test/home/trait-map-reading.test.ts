import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isJsonProblem } from "../../src/home/json-check.ts";
import { mapProblemText, readTraitMap, readTraitMapText } from "../../src/home/trait-map-reading.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { mapOf } from "./own-thing-parts.ts";

const on = { attribute: "power" };
const lampWith = (members: object) => ({ kind: "light", traits: { onOff: { on } }, ...members });
const withField = (trait: string, field: string, source: unknown, capabilities?: object) => ({
  kind: "other",
  traits: { [trait]: { [field]: source, ...(capabilities && { capabilities }) } },
});

describe("a trait map that can't be used", () => {
  const cases: readonly (readonly [what: string, json: unknown, jsonPath: string, problem: RegExp])[] = [
    ["no object", [], "The document", /must be an object/],
    ["a misspelled member", lampWith({ makr: "Acme" }), "makr", /is unknown; known are: kind, maker/],
    ["no kind", { traits: { onOff: { on } } }, "kind", /one of: thermostat, alarm, fan, light, switch, sensor, other$/],
    ["a building", lampWith({ kind: "home" }), "kind", /one of/],
    ["a maker with a line break", lampWith({ maker: "A\nB" }), "maker", /without control characters/],
    ["no traits", { kind: "light" }, "traits", /must be an object/],
    ["an empty list of traits", { kind: "light", traits: {} }, "traits", /at least one trait/],
    ["an unknown trait", lampWith({ traits: { glow: {} } }), "traits.glow", /is unknown/],
    [
      "an inherited name as a trait",
      JSON.parse('{"kind":"light","traits":{"__proto__":{}}}'),
      "traits.__proto__",
      /unk/,
    ],
    ["presence", withField("presence", "state", { attribute: "a" }), "traits.presence", /is unknown/],
    ["a trait without fields", lampWith({ traits: { onOff: {} } }), "traits.onOff", /at least one of: on/],
    ["an alarm without a state", withField("smoke", "testing", on), "traits.smoke", /must have the field state/],
    ["an unknown field", withField("onOff", "off", on), "traits.onOff.off", /is unknown/],
    ["the derived word", withField("smoke", "word", on), "traits.smoke.word", /must be left out/],
    ["a field without an attribute", withField("onOff", "on", {}), "traits.onOff.on.attribute", /name of an attribute/],
    [
      "a name that no attribute has",
      withField("onOff", "on", { attribute: "a\0" }),
      "traits.onOff.on.attribute",
      /name/,
    ],
    [
      "words that are not one to one",
      withField("onOff", "on", { ...on, words: { true: "1", false: "1" } }),
      "traits.onOff.on.words.false",
      /must differ from the word of true/,
    ],
    [
      "a word for no value",
      withField("onOff", "on", { ...on, words: { yes: "1" } }),
      "traits.onOff.on.words.yes",
      /is unknown; known are: true, false/,
    ],
    [
      "a writable switch that can't go off",
      withField("onOff", "on", { ...on, writable: true, words: { true: "1" } }),
      "traits.onOff.on.words",
      /must have a word for false/,
    ],
    [
      "writable where no command sets",
      withField("humidity", "percent", { ...on, writable: true }),
      "traits.humidity.percent.writable",
      /no command sets it/,
    ],
    [
      "a constant that is writable",
      withField("onOff", "on", { value: true, writable: true }),
      "traits.onOff.on.writable",
      /is unknown/,
    ],
    [
      "a constant of another type",
      withField("onOff", "on", { value: "yes" }),
      "traits.onOff.on.value",
      /true or false/,
    ],
    [
      "words on a number",
      withField("humidity", "percent", { ...on, words: {} }),
      "traits.humidity.percent.words",
      /is unknown/,
    ],
    [
      "a unit beside a factor",
      withField("temperature", "celsius", { ...on, unit: "fahrenheit", factor: 2 }),
      "traits.temperature.celsius.factor",
      /can't be combined/,
    ],
    [
      "a unit of no temperature",
      withField("humidity", "percent", { ...on, unit: "celsius" }),
      "traits.humidity.percent.unit",
      /no temperature/,
    ],
    [
      "an unknown unit",
      withField("temperature", "celsius", { ...on, unit: "rankine" }),
      "traits.temperature.celsius.unit",
      /celsius, fahrenheit, kelvin/,
    ],
    [
      "a factor of 0",
      withField("humidity", "percent", { ...on, factor: 0 }),
      "traits.humidity.percent.factor",
      /must not be 0/,
    ],
    [
      "half a decimal",
      withField("humidity", "percent", { ...on, decimals: 0.5 }),
      "traits.humidity.percent.decimals",
      /whole number/,
    ],
    [
      "a derived capability",
      withField("onOff", "on", on, { readOnly: true }),
      "traits.onOff.capabilities.readOnly",
      /follows from the fields/,
    ],
    [
      "an unknown capability",
      withField("fan", "mode", on, { speeds: 3 }),
      "traits.fan.capabilities.speeds",
      /is unknown/,
    ],
    [
      "a mode that no thermostat has",
      withField("thermostat", "mode", on, { modes: ["hot"] }),
      "traits.thermostat.capabilities.modes[0]",
      /one of: off, heat/,
    ],
    [
      "a writable mode without a list",
      withField("thermostat", "mode", { ...on, writable: true }),
      "traits.thermostat.capabilities.modes",
      /must list the values/,
    ],
    [
      "a listed mode without a word",
      withField("thermostat", "mode", { ...on, writable: true, words: { off: "0" } }, { modes: ["heat"] }),
      "traits.thermostat.mode.words",
      /word for heat/,
    ],
    [
      "a silence that is too short",
      lampWith({ online: { silentAfterSeconds: 1 } }),
      "online.silentAfterSeconds",
      /10 to/,
    ],
    [
      "two rules for online",
      lampWith({ online: { attribute: "up", silentAfterSeconds: 60 } }),
      "online.attribute",
      /can't be combined/,
    ],
    ["no time for commands", lampWith({ commandSeconds: 0 }), "commandSeconds", /1 to 3600/],
    [
      "two writable fields on one attribute",
      {
        kind: "light",
        traits: { onOff: { on: { ...on, writable: true } }, brightness: { percent: { ...on, writable: true } } },
      },
      "traits.brightness.percent.attribute",
      /must not be the attribute of traits\.onOff\.on/,
    ],
    [
      "a writable field on the attribute of online",
      { kind: "light", online: on, traits: { onOff: { on: { ...on, writable: true } } } },
      "online.attribute",
      /must not be the attribute of traits\.onOff\.on/,
    ],
  ];
  for (const [what, json, jsonPath, problem] of cases) {
    it(`names the path: ${what}`, () => {
      const result = readTraitMap(json);
      assert.ok(isJsonProblem(result), "the map was accepted");
      assert.equal(result.jsonPath, jsonPath);
      assert.match(result.problem, problem);
      assert.match(mapProblemText(result), /^The trait map can't be used: /);
    });
  }

  it("is refused or read, whatever the text is, and never ends in an exception", () => {
    const anyMember = fc.constantFrom("kind", "traits", "onOff", "on", "attribute", "words", "capabilities", "modes");
    const { document } = fc.letrec((tie) => ({
      document: fc.dictionary(fc.oneof(anyMember, fc.string()), tie("value"), { maxKeys: 4 }),
      value: fc.oneof({ depthSize: "small" }, fc.jsonValue({ maxDepth: 1 }), fc.constant("light"), tie("document")),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          document.map((one) => JSON.stringify(one)),
        ),
        (text) => {
          assert.equal(typeof readTraitMapText(text), "object");
        },
      ),
    );
    assert.deepEqual(readTraitMapText("{"), { jsonPath: "The document", problem: "must be JSON" });
  });
});

describe("a trait map", () => {
  it("of every template can be read", () => {
    for (const template of Object.values(traitMapTemplates)) mapOf(template);
  });

  it("tells which values can be set: the listed ones, or all that have words", () => {
    const words = { off: "0", heat: "1" };
    const mode = { ...on, writable: true, words };
    assert.deepEqual(mapOf(withField("thermostat", "mode", mode)).traits.thermostat!.capabilities.modes, [
      "off",
      "heat",
    ]);
    const listed = mapOf(withField("fan", "mode", { ...on, writable: true }, { modes: ["low", "high"] }));
    assert.deepEqual(listed.traits.fan!.capabilities, { modes: ["low", "high"], percentStep: null });
  });

  it("makes a switch read-only unless its attribute is writable", () => {
    assert.equal(mapOf(lampWith({})).traits.onOff!.capabilities.readOnly, true);
    assert.equal(mapOf(traitMapTemplates.lamp).traits.onOff!.capabilities.readOnly, false);
  });
});
