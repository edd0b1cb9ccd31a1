import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planCommand } from "../../src/home/command.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";
import { command, planOf, setsOf, thermostatWith } from "./command-things.ts";

const setTarget = (params: Record<string, number>) => command("thermostat.setTarget", params);

type State = Partial<Thermostat["state"]>;
type Capabilities = Partial<Thermostat["capabilities"]>;

const dual: State = { mode: "heatCool", targetCelsius: null };
const noRanges = { minHeatCelsius: null, maxHeatCelsius: null, minCoolCelsius: null, maxCoolCelsius: null };
const fahrenheit = { stepCelsius: 5 / 9, minHeatCelsius: 10, minCoolCelsius: 10, minGapCelsius: 1.67 };
const outOfRange = (parameter: string, min: number | null, max: number | null) => ({
  code: "outOfRange",
  parameter,
  min,
  max,
  unit: "celsius",
});

describe("the pair of targets in heatCool", () => {
  it("is set and expected as a whole, also when one target is named", () => {
    assert.deepEqual(planOf(thermostatWith(dual), setTarget({ coolCelsius: 26 })), {
      steps: [{ trait: "thermostat", set: { heatCelsius: 20, coolCelsius: 26 } }],
      expected: [
        { trait: "thermostat", field: "heatCelsius", value: 20, tolerance: 0.25 },
        { trait: "thermostat", field: "coolCelsius", value: 26, tolerance: 0.25 },
      ],
      absolute: setTarget({ heatCelsius: 20, coolCelsius: 26 }),
    });
  });

  const planned: readonly (readonly [
    string,
    State,
    Capabilities,
    Record<string, number>,
    readonly [number, number],
  ])[] = [
    ["both named", {}, {}, { heatCelsius: 18.1, coolCelsius: 25.9 }, [18, 26]],
    ["the heating target named", {}, {}, { heatCelsius: 18 }, [18, 24]],
    ["the least gap", {}, {}, { heatCelsius: 22.5 }, [22.5, 24]],
    ["no gap told", {}, { minGapCelsius: null }, { heatCelsius: 24 }, [24, 24]],
    ["the middle moves both", {}, {}, { celsius: 25 }, [23, 27]],
    ["an odd middle is rounded up, and the distance stays", {}, {}, { celsius: 24.75 }, [23, 27]],
    ["the middle at the top", {}, {}, { celsius: 30.25 }, [28, 32]],
    ["the middle at the bottom", {}, {}, { celsius: 10.75 }, [9, 13]],
    ["a distance of half steps", { coolCelsius: 24.5 }, {}, { celsius: 22 }, [20, 24.5]],
    ["shown targets between steps", { heatCelsius: 19.9, coolCelsius: 24.1 }, {}, { celsius: 25 }, [23, 27]],
    ["a shown distance below the gap grows", { coolCelsius: 20.5 }, {}, { celsius: 21 }, [20.5, 22]],
    [
      "a least gap in steps of 0.1",
      { heatCelsius: 15.4, coolCelsius: 16.9 },
      { stepCelsius: 0.1 },
      { celsius: 20.75 },
      [20, 21.5],
    ],
    [
      "a least gap of 3 °F",
      { heatCelsius: 18, coolCelsius: 25 },
      fahrenheit,
      { heatCelsius: 20.56, coolCelsius: 22.22 },
      [20.56, 22.22],
    ],
    [
      "the middle of a least gap of 3 °F",
      { heatCelsius: 20.56, coolCelsius: 22.22 },
      fahrenheit,
      { celsius: 21.94 },
      [21.11, 22.78],
    ],
    ["a grown distance is whole steps", { coolCelsius: 20.5 }, { minGapCelsius: 1.7 }, { celsius: 21 }, [20, 22]],
    ["a kept target outside its range is clamped", { heatCelsius: 5 }, {}, { coolCelsius: 25 }, [9, 25]],
    ["ranges that differ", {}, { maxHeatCelsius: 25 }, { celsius: 27 }, [25, 29]],
    ["no ranges told, in the cold", {}, noRanges, { celsius: -10 }, [-12, -8]],
    ["no ranges told, in the heat", {}, noRanges, { celsius: 60 }, [58, 62]],
    ["a pair that shows although dual is not told", {}, { dual: null }, { celsius: 25 }, [23, 27]],
  ];
  for (const [what, state, capabilities, params, [heatCelsius, coolCelsius]] of planned) {
    it(`is planned: ${what}`, () => {
      const plan = planOf(thermostatWith({ ...dual, ...state }, capabilities), setTarget(params));
      assert.deepEqual(setsOf(plan), [{ heatCelsius, coolCelsius }]);
    });
  }

  const refused: readonly (readonly [string, State, Capabilities, Record<string, number>, object])[] = [
    ["too close", {}, {}, { heatCelsius: 23 }, { code: "rangeTooClose", gap: 1.5 }],
    [
      "too close by one fine step",
      {},
      { stepCelsius: 0.01 },
      { heatCelsius: 22.51 },
      { code: "rangeTooClose", gap: 1.5 },
    ],
    ["inverted", {}, {}, { heatCelsius: 24, coolCelsius: 20 }, { code: "rangeTooClose", gap: 1.5 }],
    [
      "inverted where no gap is told",
      {},
      { minGapCelsius: null },
      { heatCelsius: 25 },
      { code: "rangeTooClose", gap: 0 },
    ],
    ["heating too low", {}, {}, { heatCelsius: 8, coolCelsius: 20 }, outOfRange("heatCelsius", 9, 32)],
    ["cooling too high", {}, {}, { coolCelsius: 33 }, outOfRange("coolCelsius", 9, 32)],
    ["the middle too high for the distance", {}, {}, { celsius: 30.3 }, outOfRange("celsius", 11, 30)],
    ["the middle too low for the distance", {}, {}, { celsius: 10.7 }, outOfRange("celsius", 11, 30)],
    [
      "a gap that does not fit into the ranges",
      { coolCelsius: 20 },
      { minCoolCelsius: 9, maxCoolCelsius: 20, minGapCelsius: 15 },
      { celsius: 20 },
      { code: "rangeTooClose", gap: 15 },
    ],
    ["the other target is not told", { coolCelsius: null }, {}, { heatCelsius: 20 }, { code: "stale" }],
    ["the distance is not told", { heatCelsius: null }, {}, { celsius: 20 }, { code: "stale" }],
  ];
  for (const [what, state, capabilities, params, error] of refused) {
    it(`is refused: ${what}`, () => {
      const thing = thermostatWith({ ...dual, ...state }, capabilities);
      assert.deepEqual(planCommand(thing, [], setTarget(params)), error);
    });
  }
});
