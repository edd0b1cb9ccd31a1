import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planCommand } from "../../src/home/command.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";
import { command, planOf, queueOf, setsOf, thermostatWith } from "./command-things.ts";

const setTarget = (params: Record<string, number>) => command("thermostat.setTarget", params);
const adjust = (deltaCelsius: number) => command("thermostat.adjustTarget", { deltaCelsius });
const setMode = (mode: string) => command("thermostat.setMode", { mode });

type State = Partial<Thermostat["state"]>;
type Capabilities = Partial<Thermostat["capabilities"]>;

const cooling: State = { mode: "cool", targetCelsius: 24 };
const dual: State = { mode: "heatCool", targetCelsius: null };
const outOfRange = (parameter: string, min: number | null, max: number | null) => ({
  code: "outOfRange",
  parameter,
  min,
  max,
  unit: "celsius",
});

const notSupported = (reason: string) => (name: string) => ({
  code: "notSupported",
  command: `thermostat.${name}`,
  reason,
});
const noTarget = notSupported("it has no target temperature that can be set");
const onlyPair = notSupported("it has targets only in the mode heatCool");

describe("the target of a mode with one target", () => {
  it("is set together with the setpoint that it is, and expected to half a step", () => {
    assert.deepEqual(planOf(thermostatWith(), setTarget({ celsius: 21 })), {
      steps: [{ trait: "thermostat", set: { targetCelsius: 21, heatCelsius: 21 } }],
      expected: [{ trait: "thermostat", field: "targetCelsius", value: 21, tolerance: 0.25 }],
      absolute: setTarget({ heatCelsius: 21 }),
    });
  });

  const planned: readonly (readonly [string, State, Capabilities, Record<string, number>, object])[] = [
    ["heat by its setpoint", {}, {}, { heatCelsius: 22 }, { targetCelsius: 22, heatCelsius: 22 }],
    ["cool", cooling, {}, { celsius: 23 }, { targetCelsius: 23, coolCelsius: 23 }],
    ["cool by its setpoint", cooling, {}, { coolCelsius: 23 }, { targetCelsius: 23, coolCelsius: 23 }],
    ["auto", { mode: "auto" }, {}, { celsius: 23 }, { targetCelsius: 23 }],
    ["heatCool with one target", { mode: "heatCool" }, { dual: false }, { celsius: 23 }, { targetCelsius: 23 }],
    [
      "heatCool that shows no pair",
      { ...dual, coolCelsius: null },
      { dual: null },
      { celsius: 23 },
      { targetCelsius: 23 },
    ],
    ["nearest step below", {}, {}, { celsius: 20.24 }, { targetCelsius: 20, heatCelsius: 20 }],
    ["half a step is rounded up", {}, {}, { celsius: 20.25 }, { targetCelsius: 20.5, heatCelsius: 20.5 }],
    ["clamped to the maximum", {}, {}, { celsius: 32.25 }, { targetCelsius: 32, heatCelsius: 32 }],
    ["clamped to the minimum", {}, {}, { celsius: 8.75 }, { targetCelsius: 9, heatCelsius: 9 }],
    [
      "steps count from the minimum",
      {},
      { minHeatCelsius: 9.3 },
      { celsius: 20 },
      { targetCelsius: 19.8, heatCelsius: 19.8 },
    ],
    [
      "a maximum between steps",
      {},
      { maxHeatCelsius: 30.4 },
      { celsius: 30.4 },
      { targetCelsius: 30, heatCelsius: 30 },
    ],
    ["no step told", {}, { stepCelsius: null }, { celsius: 20.126 }, { targetCelsius: 20.13, heatCelsius: 20.13 }],
    ["a step of 0", {}, { stepCelsius: 0 }, { celsius: 20.126 }, { targetCelsius: 20.13, heatCelsius: 20.13 }],
    ["no minimum told", {}, { minHeatCelsius: null }, { celsius: -3.2 }, { targetCelsius: -3, heatCelsius: -3 }],
    ["no maximum told", {}, { maxHeatCelsius: null }, { celsius: 80.1 }, { targetCelsius: 80, heatCelsius: 80 }],
    [
      "steps of 1 °F",
      {},
      { stepCelsius: 5 / 9, minHeatCelsius: 10 },
      { celsius: 22 },
      { targetCelsius: 22.22, heatCelsius: 22.22 },
    ],
    [
      "the maximum of 50 to 90 °F",
      {},
      { stepCelsius: 5 / 9, minHeatCelsius: 10, maxHeatCelsius: 32.22 },
      { celsius: 32.22 },
      { targetCelsius: 32.22, heatCelsius: 32.22 },
    ],
  ];
  for (const [what, state, capabilities, params, set] of planned) {
    it(`is planned: ${what}`, () => {
      assert.deepEqual(setsOf(planOf(thermostatWith(state, capabilities), setTarget(params))), [set]);
    });
  }

  const refused: readonly (readonly [string, State, Capabilities, Record<string, number>, object])[] = [
    ["too high", {}, {}, { celsius: 32.26 }, outOfRange("celsius", 9, 32)],
    ["too low", {}, {}, { heatCelsius: 8.74 }, outOfRange("heatCelsius", 9, 32)],
    ["the range of cooling", cooling, { minCoolCelsius: 16 }, { celsius: 15 }, outOfRange("celsius", 16, 32)],
    [
      "both ranges in auto",
      { mode: "auto" },
      { minCoolCelsius: 16, maxHeatCelsius: 28 },
      { celsius: 29 },
      outOfRange("celsius", 16, 28),
    ],
    ["one side of the range told", {}, { minHeatCelsius: null }, { celsius: 40 }, outOfRange("celsius", null, 32)],
    ["off", { mode: "off" }, {}, { celsius: 20 }, { code: "notInMode", mode: "off" }],
    ["eco", { mode: "eco" }, {}, { celsius: 20 }, { code: "notInMode", mode: "eco" }],
    ["dry", { mode: "dry" }, {}, { celsius: 20 }, { code: "notInMode", mode: "dry" }],
    ["fanOnly", { mode: "fanOnly" }, {}, { heatCelsius: 20 }, { code: "notInMode", mode: "fanOnly" }],
    ["the cooling setpoint in heat", {}, {}, { coolCelsius: 25 }, { code: "notInMode", mode: "heat" }],
    ["the heating setpoint in cool", cooling, {}, { heatCelsius: 20 }, { code: "notInMode", mode: "cool" }],
    ["a pair in heat", {}, {}, { heatCelsius: 20, coolCelsius: 25 }, { code: "notInMode", mode: "heat" }],
    ["a setpoint in auto", { mode: "auto" }, {}, { coolCelsius: 25 }, { code: "notInMode", mode: "auto" }],
    [
      "a setpoint in heatCool with one target",
      { mode: "heatCool" },
      { dual: false },
      { coolCelsius: 25 },
      {
        code: "notSupported",
        command: "thermostat.setTarget with coolCelsius",
        reason: "the thing has one target for heating and cooling",
      },
    ],
    ["a mode that is not told", { mode: null }, {}, { celsius: 20 }, { code: "stale" }],
    ["no target, in heat", {}, { single: false, dual: false }, { celsius: 20 }, noTarget("setTarget")],
    ["no target, in off", { mode: "off" }, { single: false, dual: false }, { celsius: 20 }, noTarget("setTarget")],
    ["only a pair, in heat", {}, { single: false }, { heatCelsius: 20 }, onlyPair("setTarget")],
    ["only a pair, in off", { mode: "off" }, { single: false }, { celsius: 20 }, { code: "notInMode", mode: "off" }],
  ];
  for (const [what, state, capabilities, params, error] of refused) {
    it(`is refused: ${what}`, () => {
      assert.deepEqual(planCommand(thermostatWith(state, capabilities), [], setTarget(params)), error);
    });
  }
});

describe("an adjusted target", () => {
  it("becomes an absolute one", () => {
    const plan = planOf(thermostatWith(), adjust(1.1));
    assert.deepEqual(plan, planOf(thermostatWith(), setTarget({ celsius: 21.1 })));
    assert.deepEqual(plan.absolute, setTarget({ heatCelsius: 21 }));
  });

  it("moves both targets of heatCool", () => {
    const plan = planOf(thermostatWith(dual), adjust(-2));
    assert.deepEqual(setsOf(plan), [{ heatCelsius: 18, coolCelsius: 22 }]);
    assert.deepEqual(plan.absolute, setTarget({ heatCelsius: 18, coolCelsius: 22 }));
  });

  it("uses the setpoint of the mode where no target is reported", () => {
    const noTarget = { targetCelsius: null };
    assert.deepEqual(setsOf(planOf(thermostatWith(noTarget), adjust(1))), [{ targetCelsius: 21, heatCelsius: 21 }]);
    const cool = thermostatWith({ ...cooling, ...noTarget });
    assert.deepEqual(setsOf(planOf(cool, adjust(1))), [{ targetCelsius: 25, coolCelsius: 25 }]);
  });

  it("is refused if it can't be set, and moves the pair of a thermostat that has only a pair", () => {
    const refusalOf = (capabilities: Capabilities) => planCommand(thermostatWith({}, capabilities), [], adjust(1));
    assert.deepEqual(refusalOf({ single: false, dual: false }), noTarget("adjustTarget"));
    assert.deepEqual(refusalOf({ single: false, dual: true }), onlyPair("adjustTarget"));
    const pair = thermostatWith(dual, { single: false, dual: true });
    assert.deepEqual(setsOf(planOf(pair, adjust(1))), [{ heatCelsius: 21, coolCelsius: 25 }]);
  });

  it("is refused like a target", () => {
    const refused: readonly (readonly [State, number, object])[] = [
      [{}, 12.3, outOfRange("deltaCelsius", 9, 32)],
      [dual, 9, outOfRange("deltaCelsius", 11, 30)],
      [{ mode: "off" }, 1, { code: "notInMode", mode: "off" }],
      [{ mode: "eco" }, 1, { code: "notInMode", mode: "eco" }],
      [{ mode: null }, 1, { code: "stale" }],
      [{ mode: "auto", targetCelsius: null }, 1, { code: "stale" }],
      [{ heatCelsius: null, targetCelsius: null }, 1, { code: "stale" }],
      [{ ...dual, heatCelsius: null }, 1, { code: "stale" }],
    ];
    for (const [state, delta, error] of refused) {
      assert.deepEqual(planCommand(thermostatWith(state), [], adjust(delta)), error);
    }
  });
});

describe("a target after queued commands", () => {
  const chains: readonly (readonly [string, State, readonly ReturnType<typeof command>[], object])[] = [
    [
      "a mode and its target",
      { mode: "off" },
      [setMode("cool"), setTarget({ celsius: 25 })],
      { targetCelsius: 25, coolCelsius: 25 },
    ],
    ["a mode and a pair", {}, [setMode("heatCool"), setTarget({ celsius: 21 })], { heatCelsius: 19, coolCelsius: 23 }],
    ["two adjustments", {}, [adjust(1), adjust(1)], { targetCelsius: 22, heatCelsius: 22 }],
    [
      "a target and an adjustment",
      {},
      [setTarget({ celsius: 25 }), adjust(-1)],
      { targetCelsius: 24, heatCelsius: 24 },
    ],
    [
      "two halves of a pair",
      dual,
      [setTarget({ heatCelsius: 18 }), setTarget({ coolCelsius: 27 })],
      { heatCelsius: 18, coolCelsius: 27 },
    ],
    ["another mode keeps its setpoint", {}, [setMode("cool"), adjust(1)], { targetCelsius: 25, coolCelsius: 25 }],
    [
      "a target set before other modes",
      {},
      [setTarget({ celsius: 22 }), setMode("off"), setMode("heat"), adjust(1)],
      { targetCelsius: 23, heatCelsius: 23 },
    ],
    [
      "the mode that returns after eco",
      { mode: "eco", baseMode: "cool" },
      [setMode("cool"), adjust(1)],
      { targetCelsius: 25, coolCelsius: 25 },
    ],
  ];
  for (const [what, state, commands, set] of chains) {
    it(`is planned: ${what}`, () => {
      const queue = queueOf(thermostatWith(state), commands);
      assert.deepEqual(setsOf(queue.at(-1)!.plan), [set]);
    });
  }

  it("is adjusted when the mode that waits is the mode in force", () => {
    const thing = thermostatWith({ mode: "auto" }, { modes: null });
    assert.deepEqual(setsOf(planOf(thing, adjust(1), queueOf(thing, [setMode("auto")]))), [{ targetCelsius: 21 }]);
  });

  it("is refused in the mode that waits", () => {
    const queue = queueOf(thermostatWith(), [setMode("eco")]);
    assert.deepEqual(planCommand(thermostatWith(), queue, adjust(1)), { code: "notInMode", mode: "eco" });
  });

  it("is not adjusted in a mode whose target is not known yet", () => {
    const thing = thermostatWith({}, { modes: null });
    assert.deepEqual(planCommand(thing, queueOf(thing, [setMode("auto")]), adjust(1)), { code: "stale" });
  });

  it("is not sent in another mode than it was planned for", () => {
    const { absolute } = planOf(thermostatWith(), setTarget({ celsius: 21 }));
    assert.deepEqual(planCommand(thermostatWith(cooling), [], absolute), { code: "notInMode", mode: "cool" });
  });
});
