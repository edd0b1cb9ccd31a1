import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planCommand } from "../../src/home/command.ts";
import type { Command, Expectation, Step } from "../../src/home/command-plan.ts";
import {
  command,
  fanTimerWith,
  fanWith,
  lightWith,
  planOf,
  queueOf,
  type Target,
  thermostatWith,
} from "./command-things.ts";

type Case = readonly [what: string, thing: Target, name: string, params: object | undefined];
type Planned = readonly [...Case, step: Step, expected: readonly Expectation[]];
type Refused = readonly [...Case, error: object];

const on = (value: boolean): Expectation => ({ trait: "onOff", field: "on", value, tolerance: 0 });
const active = (value: boolean): Expectation => ({ trait: "fanTimer", field: "active", value, tolerance: 0 });
const bright = (value: number): Expectation => ({ trait: "brightness", field: "percent", value, tolerance: 1 });
const speed = (value: number, tolerance: number): Expectation => ({ trait: "fan", field: "percent", value, tolerance });

describe("a command to a switch, a light or a fan", () => {
  const light = (percent: number): Step => ({ trait: "brightness", set: { percent } });
  const off: Step = { trait: "onOff", set: { on: false } };
  const fan = (percent: number): Step => ({ trait: "fan", set: { percent } });
  const planned: readonly Planned[] = [
    ["on", lightWith(), "onOff.set", { on: true }, { trait: "onOff", set: { on: true } }, [on(true)]],
    ["off", lightWith(), "onOff.set", { on: false }, off, [on(false)]],
    ["a brightness switches on", lightWith(), "brightness.set", { percent: 40 }, light(40), [bright(40), on(true)]],
    ["whole percent", lightWith(), "brightness.set", { percent: 40.5 }, light(41), [bright(41), on(true)]],
    ["little is not nothing", lightWith(), "brightness.set", { percent: 0.1 }, light(1), [bright(1), on(true)]],
    ["clamped at the top", lightWith(), "brightness.set", { percent: 100.5 }, light(100), [bright(100), on(true)]],
    ["0 switches off", lightWith(), "brightness.set", { percent: 0 }, off, [on(false)]],
    ["clamped at the bottom", lightWith(), "brightness.set", { percent: -0.5 }, off, [on(false)]],
    ["no switch", lightWith({ isDimmerOnly: true }), "brightness.set", { percent: 7 }, light(7), [bright(7)]],
    [
      "a dimmer without a switch is clamped to 1",
      lightWith({ isDimmerOnly: true }),
      "brightness.set",
      { percent: 0.5 },
      light(1),
      [bright(1)],
    ],
    [
      "a dimmer with a switch that can't be operated",
      lightWith({ readOnly: true }),
      "brightness.set",
      { percent: 7 },
      light(7),
      [bright(7), on(true)],
    ],
    [
      "a timer with its time",
      fanTimerWith(),
      "fanTimer.start",
      { minutes: 15 },
      { trait: "fanTimer", set: { active: true }, forMinutes: 15 },
      [active(true)],
    ],
    [
      "a timer in whole minutes, at most the longest",
      fanTimerWith(),
      "fanTimer.start",
      { minutes: 720.5 },
      { trait: "fanTimer", set: { active: true }, forMinutes: 720 },
      [active(true)],
    ],
    [
      "a timer without a longest time",
      fanTimerWith(null, null),
      "fanTimer.start",
      { minutes: 5000 },
      { trait: "fanTimer", set: { active: true }, forMinutes: 5000 },
      [active(true)],
    ],
    [
      "a timer with the ecosystem's time",
      fanTimerWith(),
      "fanTimer.start",
      {},
      { trait: "fanTimer", set: { active: true } },
      [active(true)],
    ],
    [
      "the end of a timer",
      fanTimerWith(),
      "fanTimer.stop",
      undefined,
      { trait: "fanTimer", set: { active: false } },
      [active(false)],
    ],
    [
      "a mode of a fan",
      fanWith(),
      "fan.setMode",
      { mode: "on" },
      { trait: "fan", set: { mode: "on" } },
      [{ trait: "fan", field: "mode", value: "on", tolerance: 0 }],
    ],
    ["a speed on its step", fanWith(), "fan.setPercent", { percent: 40 }, fan(50), [speed(50, 12.5)]],
    ["a speed of 0", fanWith(), "fan.setPercent", { percent: 0 }, fan(0), [speed(0, 12.5)]],
    [
      "thirds",
      fanWith({ percentStep: 100 / 3 }),
      "fan.setPercent",
      { percent: 60 },
      fan(66.67),
      [speed(66.67, 50 / 3)],
    ],
    [
      "the highest of thirds",
      fanWith({ percentStep: 100 / 3 }),
      "fan.setPercent",
      { percent: 100 },
      fan(100),
      [speed(100, 50 / 3)],
    ],
    [
      "no step told",
      fanWith({ percentStep: null }, 30),
      "fan.setPercent",
      { percent: 40.2 },
      fan(40),
      [speed(40, 0.5)],
    ],
  ];
  for (const [what, thing, name, params, step, expected] of planned) {
    it(`is planned: ${what}`, () => {
      const asked = command(name, params);
      assert.deepEqual(planOf(thing, asked), { steps: [step], expected, absolute: asked });
    });
  }

  const percentRange = (min: number) => ({ code: "outOfRange", parameter: "percent", min, max: 100, unit: "percent" });
  const minuteRange = (max: number | null) => ({
    code: "outOfRange",
    parameter: "minutes",
    min: 1,
    max,
    unit: "minutes",
  });
  const notSupported = (name: string, reason: string) => ({ code: "notSupported", command: name, reason });
  const refused: readonly Refused[] = [
    [
      "a switch that can only be read",
      lightWith({ readOnly: true }),
      "onOff.set",
      { on: true },
      notSupported("onOff.set", "it can't be switched from outside"),
    ],
    ["too bright", lightWith(), "brightness.set", { percent: 100.6 }, percentRange(0)],
    ["below nothing", lightWith(), "brightness.set", { percent: -0.6 }, percentRange(0)],
    ["0 without a switch", lightWith({ isDimmerOnly: true }), "brightness.set", { percent: 0 }, percentRange(1)],
    ["0 with a fixed switch", lightWith({ readOnly: true }), "brightness.set", { percent: 0 }, percentRange(1)],
    ["no fan", fanTimerWith(false), "fanTimer.start", {}, notSupported("fanTimer.start", "the thing has no fan")],
    ["no fan to stop", fanTimerWith(false), "fanTimer.stop", {}, notSupported("fanTimer.stop", "the thing has no fan")],
    ["too long", fanTimerWith(), "fanTimer.start", { minutes: 721 }, minuteRange(720)],
    ["no time", fanTimerWith(true, null), "fanTimer.start", { minutes: 0 }, minuteRange(null)],
    [
      "an unknown mode of a fan",
      fanWith(),
      "fan.setMode",
      { mode: "turbo" },
      { code: "modeNotSupported", mode: "turbo", modes: ["auto", "on"] },
    ],
    [
      "a fan without modes",
      fanWith({ modes: [] }),
      "fan.setMode",
      { mode: "on" },
      notSupported("fan.setMode", "the fan has no modes"),
    ],
    [
      "modes not told",
      fanWith({ modes: null }),
      "fan.setMode",
      { mode: "on" },
      notSupported("fan.setMode", "the fan has no modes"),
    ],
    [
      "a fan without a speed",
      fanWith({ percentStep: null }),
      "fan.setPercent",
      { percent: 5 },
      notSupported("fan.setPercent", "the fan has no speed"),
    ],
    ["a speed above all", fanWith(), "fan.setPercent", { percent: 112.6 }, percentRange(0)],
    [
      "a trait that the thing does not have",
      lightWith(),
      "fan.setMode",
      { mode: "on" },
      notSupported("fan.setMode", "the thing has no trait fan"),
    ],
  ];
  for (const [what, thing, name, params, error] of refused) {
    it(`is refused: ${what}`, () => {
      assert.deepEqual(planCommand(thing, [], command(name, params)), error);
    });
  }
});

describe("a command after queued commands of other traits", () => {
  it("is planned in the state that they leave", () => {
    const thing = fanWith({ percentStep: null }, 30);
    const [slow, fast] = [25, 75].map((percent) => command("fan.setPercent", { percent })) as [Command, Command];
    assert.deepEqual(planOf(thing, fast, queueOf(thing, [slow])), planOf(thing, fast));
  });

  it("is planned although the thing has lost the trait of a queued one", () => {
    const queue = queueOf(lightWith(), [command("onOff.set", { on: true })]);
    const brightness = command("brightness.set", { percent: 40 });
    const dimmer = lightWith({ isDimmerOnly: true });
    assert.deepEqual(planOf(dimmer, brightness, queue), planOf(dimmer, brightness));
    assert.deepEqual(planCommand(dimmer, queue, command("onOff.set", { on: false })), {
      code: "notSupported",
      command: "onOff.set",
      reason: "the thing has no trait onOff",
    });
  });
});

describe("a command to a thing that may not be reached", () => {
  const setMode = command("thermostat.setMode", { mode: "cool" });
  const thing = thermostatWith();
  const withAvailable = (available: boolean | null): Target => ({
    ...thing,
    traits: { thermostat: { ...thing.traits.thermostat!, available } },
  });

  it("is refused when the thing is offline or the trait unavailable", () => {
    assert.deepEqual(planCommand({ ...thing, isOnline: false }, [], setMode), { code: "offline" });
    assert.deepEqual(planCommand(withAvailable(false), [], setMode), { code: "offline" });
  });

  it("is left to the ecosystem when the ecosystem does not tell", () => {
    assert.ok("steps" in planCommand({ ...thing, isOnline: null }, [], setMode));
    assert.ok("steps" in planCommand(withAvailable(null), [], setMode));
  });
});
