import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Traits } from "../../src/home/catalogue.ts";
import { type Echo, judgeEcho } from "../../src/home/command-echo.ts";
import { command, lightWith, planOf, thermostatWith } from "./command-things.ts";

const light = (percent: number | null, on: boolean | null, available: boolean | null = true): Traits => ({
  brightness: { available: true, state: { percent }, capabilities: {} },
  onOff: { available, state: { on }, capabilities: { readOnly: false } },
});

describe("the echo of a command", () => {
  const { expected } = planOf(lightWith(), command("brightness.set", { percent: 40 }));
  const shown: readonly (readonly [string, Traits, Echo])[] = [
    ["all that was set", light(40, true), "holds"],
    ["a percent above", light(41, true), "holds"],
    ["a percent below", light(39, true), "holds"],
    ["more than a percent away", light(41.01, true), "differs"],
    ["a light that is off", light(40, false), "differs"],
    ["a brightness that is not told", light(null, true), "unknown"],
    ["a switch that is not told", light(40, null), "unknown"],
    ["a difference beside an unknown value", light(10, null), "differs"],
    ["an unavailable switch", light(40, true, false), "unknown"],
    ["an unavailable switch that is off", light(40, false, false), "unknown"],
    ["a switch of which nobody knows whether it is available", light(40, true, null), "holds"],
    ["a trait that is missing", { brightness: light(40, true).brightness! }, "unknown"],
    ["nothing", {}, "unknown"],
  ];
  for (const [what, traits, echo] of shown) {
    it(`${echo}: ${what}`, () => assert.equal(judgeEcho(expected, traits), echo));
  }

  it("may be half a step away from a target", () => {
    const { expected } = planOf(
      thermostatWith({}, { stepCelsius: 0.2 }),
      command("thermostat.setTarget", { celsius: 21 }),
    );
    const echoOf = (targetCelsius: number) => judgeEcho(expected, thermostatWith({ targetCelsius }).traits);
    assert.deepEqual([20.9, 21.1, 20.89, 21.11].map(echoOf), ["holds", "holds", "differs", "differs"]);
  });

  it("is never a field that the state does not have, nor a value of another type", () => {
    const state = light(40, true);
    const judge = (field: string, value: string) =>
      judgeEcho([{ trait: "brightness", field, value, tolerance: 0 }], state);
    assert.equal(judge("colour", "red"), "unknown");
    assert.equal(judge("percent", "40"), "differs");
  });
});
