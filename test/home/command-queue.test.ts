import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isRelative } from "../../src/home/command.ts";
import { admitCommand } from "../../src/home/command-gate.ts";
import type { Command } from "../../src/home/command-plan.ts";
import { maximalQueued, placementOf, type Relation, relationOf } from "../../src/home/command-queue.ts";
import { command, fanWith, lightWith, queueOf, setsOf, type Target, thermostatWith } from "./command-things.ts";

const setTarget = (params: Record<string, number>) => command("thermostat.setTarget", params);
const target = (celsius: number) => setTarget({ celsius });
const adjust = (deltaCelsius: number) => command("thermostat.adjustTarget", { deltaCelsius });
const setMode = (mode: string) => command("thermostat.setMode", { mode });
const brightness = (percent: number) => command("brightness.set", { percent });
const speed = (percent: number) => command("fan.setPercent", { percent });
const power = (on: boolean) => command("onOff.set", { on });
const start = (minutes?: number) => command("fanTimer.start", minutes === undefined ? {} : { minutes });
const waiting = (asked: Command) => ({ command: asked, isSent: false });
const sent = (asked: Command) => ({ command: asked, isSent: true });

describe("a command and another one that has not ended", () => {
  const relations: readonly (readonly [string, Command, ReturnType<typeof waiting>, Relation])[] = [
    ["the same", target(20), waiting(target(20)), "joins"],
    ["the same that was sent", target(20), sent(target(20)), "joins"],
    [
      "the same in another order",
      setTarget({ heatCelsius: 19, coolCelsius: 24 }),
      waiting(setTarget({ coolCelsius: 24, heatCelsius: 19 })),
      "joins",
    ],
    ["another value", target(21), waiting(target(20)), "supersedes"],
    ["another value, sent", target(21), sent(target(20)), "follows"],
    ["another parameter", setTarget({ heatCelsius: 20 }), waiting(target(20)), "supersedes"],
    [
      "one parameter more",
      setTarget({ heatCelsius: 19, coolCelsius: 24 }),
      waiting(setTarget({ heatCelsius: 19 })),
      "supersedes",
    ],
    [
      "one parameter of two differs",
      setTarget({ heatCelsius: 19, coolCelsius: 24 }),
      waiting(setTarget({ heatCelsius: 19, coolCelsius: 25 })),
      "supersedes",
    ],
    ["one parameter less", start(), waiting(start(15)), "supersedes"],
    ["another kind", setMode("heat"), waiting(target(20)), "follows"],
    ["a trait with a command of the same name", power(true), waiting(brightness(20)), "follows"],
    ["an equal adjustment counts again", adjust(1), waiting(adjust(1)), "supersedes"],
    ["an equal adjustment, sent", adjust(1), sent(adjust(1)), "follows"],
  ];
  for (const [what, newer, queued, relation] of relations) {
    it(`${relation}: ${what}`, () => assert.equal(relationOf(newer, queued), relation));
  }
});

describe("the place of a command in the queue of its thing", () => {
  const places: readonly (readonly [string, Command, readonly ReturnType<typeof waiting>[], object])[] = [
    ["an empty queue", target(20), [], { relation: "follows" }],
    ["after the mode", target(20), [sent(setMode("heat"))], { relation: "follows" }],
    [
      "for the target after the mode",
      target(21),
      [sent(setMode("heat")), waiting(target(20))],
      { relation: "supersedes", index: 1 },
    ],
    [
      "with the newest of its kind",
      target(20),
      [sent(target(20)), waiting(target(22))],
      { relation: "supersedes", index: 1 },
    ],
    ["not with one that a sent one follows", target(20), [sent(target(20)), sent(target(22))], { relation: "follows" }],
    [
      "not with a target of another mode",
      target(20),
      [waiting(target(20)), waiting(setMode("cool"))],
      { relation: "follows" },
    ],
    [
      "not for a mode that a target follows",
      setMode("cool"),
      [waiting(setMode("heat")), waiting(target(20))],
      { relation: "follows" },
    ],
    [
      "not with a brightness before the light went off",
      brightness(40),
      [waiting(brightness(40)), waiting(power(false))],
      { relation: "follows" },
    ],
    [
      "not with a speed before the fan went off",
      speed(40),
      [waiting(speed(40)), waiting(power(false))],
      { relation: "follows" },
    ],
    [
      "past a light, for a thermostat",
      target(21),
      [waiting(target(20)), waiting(power(false))],
      { relation: "supersedes", index: 0 },
    ],
    [
      "past a thermostat, for a light",
      power(true),
      [waiting(power(false)), waiting(target(20))],
      { relation: "supersedes", index: 0 },
    ],
    [
      "past a fan that has its own timer",
      target(21),
      [waiting(target(20)), waiting(start())],
      { relation: "supersedes", index: 0 },
    ],
  ];
  for (const [what, newer, queued, place] of places) {
    it(`is found: ${what}`, () => assert.deepEqual(placementOf(newer, queued), place));
  }

  it("is refused behind four others, unless it joins or supersedes one of them", () => {
    const queue = [
      sent(setMode("off")),
      ...["heat", "cool"].map((mode) => waiting(setMode(mode))),
      waiting(target(20)),
    ];
    assert.equal(queue.length, maximalQueued);
    assert.deepEqual(placementOf(setMode("eco"), queue), { relation: "full" });
    assert.deepEqual(placementOf(setMode("eco"), queue.slice(1)), { relation: "follows" });
    assert.deepEqual(placementOf(target(20), queue), { relation: "joins", index: 3 });
    assert.deepEqual(placementOf(target(21), queue), { relation: "supersedes", index: 3 });
  });
});

describe("the gate of commands", () => {
  const admitted = (thing: Target, queue: readonly Command[], newer: Command, sentOnes = 0) =>
    admitCommand(thing, queueOf(thing, queue, sentOnes), newer);

  it("joins a command without a new plan", () => {
    assert.deepEqual(admitted(thermostatWith(), [target(21)], target(21)), { relation: "joins", index: 0 });
  });

  it("plans a target after the mode that waits", () => {
    const admission = admitted(thermostatWith({ mode: "off" }), [setMode("cool")], target(25));
    assert.ok("plan" in admission);
    assert.equal(admission.relation, "follows");
    assert.deepEqual(setsOf(admission.plan), [{ targetCelsius: 25, coolCelsius: 25 }]);
  });

  it("adds up differences of brightness and speed on what waits or was sent, also when that switches on", () => {
    const brighter = (deltaPercent: number) => command("brightness.adjust", { deltaPercent });
    const faster = (deltaPercent: number) => command("fan.adjustPercent", { deltaPercent });
    const fan = (percent: number | null, on: boolean): Target => {
      const onOff = { available: true, state: { on }, capabilities: { readOnly: false } };
      return { isOnline: true, traits: { ...fanWith({ percentStep: 1 }, percent).traits, onOff } };
    };
    const cases: readonly (readonly [Target, readonly Command[], Command, number, object, string])[] = [
      [lightWith(), [], brighter(10), 0, { percent: 10 }, "follows"],
      [lightWith(), [brighter(10)], brighter(10), 0, { percent: 20 }, "supersedes"],
      [lightWith(), [brighter(10)], brighter(10), 1, { percent: 20 }, "follows"],
      [lightWith(), [brightness(70)], brighter(10), 0, { percent: 80 }, "follows"],
      [lightWith(), [brightness(70), brighter(10)], brighter(30), 2, { percent: 100 }, "follows"],
      [lightWith(), [power(true)], brighter(-20), 1, { percent: 30 }, "follows"],
      [lightWith(), [brightness(20)], brighter(-30), 1, { on: false }, "follows"],
      [lightWith({ isDimmerOnly: true }), [], brighter(-80), 0, { percent: 1 }, "follows"],
      [fan(40, true), [faster(10)], faster(10), 1, { percent: 60 }, "follows"],
      [fan(40, false), [], faster(10), 0, { percent: 10 }, "follows"],
      [fan(40, false), [speed(50)], faster(10), 0, { percent: 60 }, "follows"],
      [fan(40, true), [speed(0)], faster(20), 1, { percent: 20 }, "follows"],
      [fan(90, true), [], faster(30), 0, { percent: 100 }, "follows"],
    ];
    for (const [thing, queue, newer, sentOnes, set, relation] of cases) {
      const admission = admitted(thing, queue, newer, sentOnes);
      assert.ok("plan" in admission, JSON.stringify(admission));
      assert.deepEqual([setsOf(admission.plan), admission.relation], [[set], relation]);
      assert.ok(!isRelative(admission.plan.absolute));
    }
    assert.deepEqual(admitted(fanWith({}, null), [], faster(10)), { code: "stale" });
    const none = { code: "notSupported", command: "fan.adjustPercent", reason: "the fan has no speed" };
    assert.deepEqual(admitted(fanWith({ percentStep: null }, null), [], faster(10)), none);
    const dark = lightWith().traits;
    const unknown = { ...dark, onOff: undefined, brightness: { ...dark.brightness!, state: { percent: null } } };
    assert.deepEqual(admitted({ isOnline: true, traits: unknown as never }, [], brighter(1)), { code: "stale" });
  });

  it("refuses a command that the thing does not accept", () => {
    assert.deepEqual(admitted(thermostatWith({ mode: "off" }), [], target(25)), { code: "notInMode", mode: "off" });
    const far = { code: "outOfRange", parameter: "celsius", min: 9, max: 32, unit: "celsius" };
    assert.deepEqual(admitted(thermostatWith(), [target(21)], target(50)), far);
  });

  it("refuses a fifth command", () => {
    const four = ["off", "heat", "cool", "heat"].map(setMode);
    assert.deepEqual(admitted(thermostatWith(), four, start(), 4), { code: "busy" });
  });

  it("keeps what a superseded target had set beside the newer one", () => {
    const thing = thermostatWith({ mode: "heatCool" });
    const admission = admitted(thing, [setTarget({ heatCelsius: 18 })], setTarget({ coolCelsius: 27 }));
    assert.ok("plan" in admission);
    assert.equal(admission.relation, "supersedes");
    assert.deepEqual(setsOf(admission.plan), [{ heatCelsius: 18, coolCelsius: 27 }]);
    assert.deepEqual(admission.plan.absolute, setTarget({ heatCelsius: 18, coolCelsius: 27 }));
  });

  it("adds up adjustments, the superseded one included", () => {
    const admission = admitted(thermostatWith(), [adjust(1)], adjust(1));
    assert.ok("plan" in admission);
    assert.equal(admission.relation, "supersedes");
    assert.deepEqual(setsOf(admission.plan), [{ targetCelsius: 22, heatCelsius: 22 }]);
  });

  it("does not end an eco that a superseded command would have begun", () => {
    const admission = admitted(thermostatWith(), [setMode("eco")], setMode("cool"));
    assert.ok("plan" in admission);
    assert.equal(admission.relation, "supersedes");
    assert.deepEqual(setsOf(admission.plan), [{ mode: "cool" }]);
  });

  it("ends an eco that was sent", () => {
    const admission = admitted(thermostatWith(), [setMode("eco")], setMode("cool"), 1);
    assert.ok("plan" in admission);
    assert.equal(admission.relation, "follows");
    assert.deepEqual(setsOf(admission.plan), [{ mode: "heat", baseMode: null }, { mode: "cool" }]);
  });
});
