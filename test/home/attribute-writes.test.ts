import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { attributeWrites } from "../../src/home/attribute-writes.ts";
import { traits } from "../../src/home/catalogue.ts";
import { planCommand } from "../../src/home/command.ts";
import { judgeEcho } from "../../src/home/command-echo.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import type { Command } from "../../src/home/command-plan.ts";
import { readMapped, writeMapped } from "../../src/home/mapped-value.ts";
import { attributeSource, type TraitMap } from "../../src/home/trait-map.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { mapOf, mapOfField, thingOf } from "./own-thing-parts.ts";

const nowMs = 1_000_000;

function sent(map: TraitMap, attributes: Record<string, string>, command: object) {
  const plan = planCommand(thingOf(map, attributes), [], command as Command, { endsEcoFirst: false });
  if (isCommandError(plan)) return plan;
  const result = attributeWrites(map, plan, nowMs);
  if (isCommandError(result)) return result;
  return Object.fromEntries(result.writes.map(({ attribute, value }) => [attribute, value]));
}

describe("a command to an own device", () => {
  const heat = { attribute: "heat", writable: true };
  const setTarget = (celsius: number) => ({ trait: "thermostat", command: "setTarget", params: { celsius } });
  const start = { trait: "fanTimer", command: "start", params: { minutes: 15 } };
  const timer = (untilMs: object) =>
    mapOf({
      kind: "fan",
      traits: { fanTimer: { active: { attribute: "run", writable: true }, untilMs: { attribute: "end", ...untilMs } } },
    });
  const dimmer = mapOf({
    kind: "light",
    traits: {
      onOff: { on: { attribute: "power", words: { true: "1", false: "0" }, writable: true } },
      brightness: { percent: { attribute: "level", factor: 10, decimals: 0, writable: true } },
    },
  });
  const set = (percent: number) => ({ trait: "brightness", command: "set", params: { percent } });
  const cases: readonly (readonly [string, TraitMap, Record<string, string>, object, object])[] = [
    [
      "on",
      mapOf(traitMapTemplates.lamp),
      {},
      { trait: "onOff", command: "set", params: { on: true } },
      { power: "on" },
    ],
    ["a brightness and the switch", dimmer, {}, set(42), { level: "4", power: "1" }],
    ["a brightness that rounds to nothing", dimmer, {}, set(1), { level: "1", power: "1" }],
    ["a brightness of 0", dimmer, {}, set(0), { power: "0" }],
    ["a target", mapOf(traitMapTemplates.thermostat), { mode: "heat" }, setTarget(20.3), { target: "20.5" }],
    [
      "the setpoint of the mode, in the device's unit",
      mapOf({
        kind: "thermostat",
        traits: { thermostat: { mode: { value: "heat" }, heatCelsius: { ...heat, unit: "fahrenheit", decimals: 0 } } },
      }),
      {},
      setTarget(20),
      { heat: "68" },
    ],
    ["a timer that takes its end", timer({ writable: true, factor: 1_000 }), {}, start, { run: "true", end: "1900" }],
    ["a timer without an end", timer({}), {}, { ...start, params: {} }, { run: "true" }],
  ];
  for (const [what, map, attributes, command, writes] of cases) {
    it(`asks for attributes: ${what}`, () => assert.deepEqual(sent(map, attributes, command), writes));
  }

  it("is refused when the map has no writable attribute for it", () => {
    const refused = (map: TraitMap, attributes: Record<string, string>, command: object) => {
      const answer = sent(map, attributes, command) as { code?: string; reason?: string };
      return `${answer.code}: ${answer.reason}`;
    };
    const readOnly = mapOf({
      kind: "thermostat",
      traits: { thermostat: { mode: { attribute: "mode" }, targetCelsius: { attribute: "target" } } },
    });
    assert.equal(refused(readOnly, { mode: "heat" }, setTarget(20)), "notSupported: targetCelsius is read-only");
    assert.equal(
      refused(readOnly, {}, { trait: "thermostat", command: "setMode", params: { mode: "off" } }),
      "notSupported: mode is read-only",
    );
    assert.equal(refused(timer({}), {}, start), "notSupported: untilMs is read-only");
  });

  it("never sends one of two setpoints alone", () => {
    const map = mapOf({
      kind: "thermostat",
      traits: {
        thermostat: { mode: { attribute: "mode" }, heatCelsius: heat, coolCelsius: { attribute: "cool" } },
      },
    });
    const attributes = { mode: "heatCool", heat: "19", cool: "25" };
    const command = { trait: "thermostat", command: "setTarget", params: { heatCelsius: 18, coolCelsius: 26 } };
    assert.deepEqual(sent(map, attributes, command), {
      code: "notSupported",
      command: "thermostat.setTarget",
      reason: "coolCelsius is read-only",
    });
  });

  it("is confirmed by the state of a device that took the written attributes", () => {
    const maps = [
      dimmer,
      mapOf(traitMapTemplates.fan),
      mapOf(traitMapTemplates.thermostat),
      mapOf({
        kind: "thermostat",
        traits: {
          thermostat: {
            mode: { attribute: "m", words: { heat: "H", cool: "C", heatCool: "A", off: "-" }, writable: true },
            heatCelsius: { attribute: "h", unit: "fahrenheit", decimals: 0, writable: true },
            coolCelsius: { attribute: "c", factor: 0.5, decimals: 0, writable: true },
          },
        },
      }),
    ];
    const anyNumber = fc.double({ min: 0, max: 100, noNaN: true });
    const anyCommand = fc.oneof(
      anyNumber.map((percent) => ({ trait: "brightness", command: "set", params: { percent } })),
      anyNumber.map((percent) => ({ trait: "fan", command: "setPercent", params: { percent } })),
      fc.boolean().map((on) => ({ trait: "onOff", command: "set", params: { on } })),
      fc
        .constantFrom("off", "heat", "cool")
        .map((mode) => ({ trait: "thermostat", command: "setMode", params: { mode } })),
      anyNumber.map((celsius) => setTarget(celsius)),
      fc.tuple(anyNumber, anyNumber).map(([heatCelsius, coolCelsius]) => ({
        trait: "thermostat",
        command: "setTarget",
        params: { heatCelsius, coolCelsius },
      })),
    );
    const anyBefore = fc.record({
      mode: fc.constantFrom("heat", "off"),
      m: fc.constantFrom("H", "C", "A"),
      h: fc.constantFrom("66", "70"),
      c: fc.constantFrom("48", "52"),
    });
    let confirmed = 0;
    fc.assert(
      fc.property(fc.constantFrom(...maps), anyBefore, anyCommand, (map, before, command) => {
        const plan = planCommand(thingOf(map, before), [], command as Command, { endsEcoFirst: false });
        if (isCommandError(plan)) return;
        const own = attributeWrites(map, plan, nowMs);
        if (isCommandError(own)) return;
        const after = {
          ...before,
          ...Object.fromEntries(own.writes.map(({ attribute, value }) => [attribute, value])),
        };
        assert.equal(judgeEcho(own.expected, thingOf(map, after).traits), "holds");
        confirmed++;
      }),
    );
    assert.ok(confirmed > 10, "hardly any command was planned");
  });
});

describe("writing a value in a device's format", () => {
  it("is the inverse of reading it, to the accuracy of the written decimals", () => {
    const anyScale = fc.record({
      factor: fc.double({ min: 0.01, max: 100, noNaN: true }),
      offset: fc.double({ min: -300, max: 300, noNaN: true }),
      decimals: fc.integer({ min: 0, max: 6 }),
    });
    fc.assert(
      fc.property(anyScale, fc.double({ min: -50, max: 50, noNaN: true }), (scale, value) => {
        const map = mapOfField("thermostat", "targetCelsius", { attribute: "a", ...scale });
        const source = attributeSource(map, "thermostat", "targetCelsius")!;
        const type = traits.thermostat.fields.targetCelsius!.value;
        const text = writeMapped(source, type, value);
        const back = readMapped(source.format, type, text ?? null);
        const accuracy = (scale.factor * 10 ** -scale.decimals) / 2 + 0.005 + 1e-6;
        assert.ok(Math.abs(Number(back) - value) <= accuracy, `${value} was written as ${text} and read as ${back}`);
      }),
    );
  });

  it("knows no text for a value without a word", () => {
    const { format } = attributeSource(
      mapOfField("smoke", "state", { attribute: "a", words: { clear: "ok" } }),
      "smoke",
      "state",
    )!;
    assert.equal(writeMapped({ format }, traits.smoke.fields.state!.value, "alarm"), undefined);
    assert.equal(writeMapped({ format }, traits.smoke.fields.state!.value, "clear"), "ok");
  });
});
