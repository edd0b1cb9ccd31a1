import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planCommand } from "../../src/home/command.ts";
import { judgeEcho } from "../../src/home/command-echo.ts";
import { type ThermostatMode, thermostatModes } from "../../src/home/traits/thermostat.ts";
import { command, planOf, queueOf, setsOf, thermostatWith } from "./command-things.ts";

const setMode = (mode: ThermostatMode) => command("thermostat.setMode", { mode });
const inEco = (baseMode: ThermostatMode | null) => thermostatWith({ mode: "eco", baseMode });

describe("the mode of a thermostat", () => {
  it("is set in one step, and expected exactly", () => {
    const plan = planOf(thermostatWith(), setMode("cool"));
    assert.deepEqual(plan, {
      steps: [{ trait: "thermostat", set: { mode: "cool" } }],
      expected: [{ trait: "thermostat", field: "mode", value: "cool", tolerance: 0 }],
      absolute: setMode("cool"),
    });
  });

  it("is set also when the thermostat is already in it: the state may be old", () => {
    assert.deepEqual(setsOf(planOf(thermostatWith(), setMode("heat"))), [{ mode: "heat" }]);
    assert.deepEqual(setsOf(planOf(inEco("heat"), setMode("eco"))), [{ mode: "eco" }]);
  });

  it("is one of the thermostat's modes", () => {
    const modes = ["off", "heat"] as const;
    assert.deepEqual(planCommand(thermostatWith({}, { modes }), [], setMode("cool")), {
      code: "modeNotSupported",
      mode: "cool",
      modes,
    });
  });

  it("is left to the ecosystem when the ecosystem does not tell its modes", () => {
    for (const mode of thermostatModes) {
      assert.deepEqual(setsOf(planOf(thermostatWith({}, { modes: null }), setMode(mode))), [{ mode }]);
    }
  });
});

describe("the end of eco", () => {
  it("takes two steps to a mode other than the one before eco", () => {
    const plan = planOf(inEco("heat"), setMode("cool"));
    assert.deepEqual(setsOf(plan), [{ mode: "heat", baseMode: null }, { mode: "cool" }]);
    assert.deepEqual(plan.expected, [{ trait: "thermostat", field: "mode", value: "cool", tolerance: 0 }]);
  });

  it("takes one step to the mode before eco, and where that mode is not told", () => {
    assert.deepEqual(setsOf(planOf(inEco("cool"), setMode("cool"))), [{ mode: "cool", baseMode: null }]);
    assert.deepEqual(setsOf(planOf(inEco(null), setMode("off"))), [{ mode: "off", baseMode: null }]);
  });

  it("takes one step in an ecosystem that sets any mode in eco", () => {
    const plan = planCommand(inEco("heat"), [], setMode("off"), { endsEcoFirst: false });
    assert.ok("steps" in plan);
    assert.deepEqual(setsOf(plan), [{ mode: "off", baseMode: null }]);
  });

  it("is counted from the queue: eco that waits replaces the mode before it", () => {
    const thing = thermostatWith({ mode: "heat" });
    const plan = planOf(thing, setMode("cool"), queueOf(thing, [setMode("eco")]));
    assert.deepEqual(setsOf(plan), [{ mode: "heat", baseMode: null }, { mode: "cool" }]);
  });

  it("returns to the mode before eco also after eco was set twice", () => {
    const plan = planOf(inEco("heat"), setMode("cool"), queueOf(inEco("heat"), [setMode("eco")]));
    assert.deepEqual(setsOf(plan), [{ mode: "heat", baseMode: null }, { mode: "cool" }]);
  });

  it("that waits in the queue is not repeated", () => {
    const plan = planOf(inEco("heat"), setMode("off"), queueOf(inEco("heat"), [setMode("cool")]));
    assert.deepEqual(setsOf(plan), [{ mode: "off" }]);
  });

  it("is not confirmed by the state between the two steps", () => {
    const { expected } = planOf(inEco("heat"), setMode("cool"));
    assert.equal(judgeEcho(expected, thermostatWith({ mode: "heat" }).traits), "differs");
    assert.equal(judgeEcho(expected, thermostatWith({ mode: "cool" }).traits), "holds");
  });
});

describe("the preset of a thermostat", () => {
  const setPreset = command("thermostat.setPreset", { preset: "away" });

  it("is one of the thermostat's presets", () => {
    assert.deepEqual(planOf(thermostatWith({}, { presets: ["boost", "away"] }), setPreset), {
      steps: [{ trait: "thermostat", set: { preset: "away" } }],
      expected: [{ trait: "thermostat", field: "preset", value: "away", tolerance: 0 }],
      absolute: setPreset,
    });
    assert.deepEqual(planCommand(thermostatWith({}, { presets: ["boost", "sleep"] }), [], setPreset), {
      code: "badValue",
      parameter: "preset",
      problem: "must be one of: boost, sleep",
    });
  });

  it("can't be set where there are none", () => {
    for (const presets of [null, []]) {
      assert.deepEqual(planCommand(thermostatWith({}, { presets }), [], setPreset), {
        code: "notSupported",
        command: "thermostat.setPreset",
        reason: "the thing has no presets",
      });
    }
  });
});
