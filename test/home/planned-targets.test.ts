import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { planCommand } from "../../src/home/command.ts";
import { judgeEcho } from "../../src/home/command-echo.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import type { Command, Plan } from "../../src/home/command-plan.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";
import { command, type Target, thermostatWith } from "./command-things.ts";

/** Thermostats with any mode, range, step and state, also states outside the range. */
const anyCelsius = fc.integer({ min: 0, max: 4_000 }).map((hundredths) => hundredths / 100);
const maybeCelsius = fc.option(anyCelsius, { freq: 8 });
const anyMode = fc.constantFrom<Thermostat["state"]["mode"][]>("heat", "cool", "heatCool", "heatCool", "auto");
const anyStep = fc.constantFrom(0.1, 0.2, 0.5, 1, 5 / 9, null);
const anyLimits = fc.tuple(anyCelsius, anyCelsius).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

const anyThermostat: fc.Arbitrary<Target> = fc
  .record({
    mode: anyMode,
    targets: fc.tuple(maybeCelsius, maybeCelsius, maybeCelsius),
    heat: anyLimits,
    cool: anyLimits,
    stepCelsius: anyStep,
    dual: fc.constantFrom(true, true, false, null),
    minGapCelsius: fc.constantFrom(null, 0, 1.5, 2),
  })
  .map(({ mode, targets: [heatCelsius, coolCelsius, targetCelsius], heat, cool, ...capabilities }) =>
    thermostatWith(
      { mode, heatCelsius, coolCelsius, targetCelsius },
      {
        ...capabilities,
        minHeatCelsius: heat[0],
        maxHeatCelsius: heat[1],
        minCoolCelsius: cool[0],
        maxCoolCelsius: cool[1],
      },
    ),
  );

const anyTarget: fc.Arbitrary<Command> = fc.oneof(
  anyCelsius.map((celsius) => command("thermostat.setTarget", { celsius })),
  anyCelsius.map((heatCelsius) => command("thermostat.setTarget", { heatCelsius })),
  anyCelsius.map((coolCelsius) => command("thermostat.setTarget", { coolCelsius })),
  fc
    .tuple(anyCelsius, anyCelsius)
    .map(([heatCelsius, coolCelsius]) => command("thermostat.setTarget", { heatCelsius, coolCelsius })),
  fc.integer({ min: -50, max: 50 }).map((tenths) => command("thermostat.adjustTarget", { deltaCelsius: tenths / 10 })),
);

/** Calls `check` for accepted commands, and fails when hardly any was accepted. */
function forEachPlan(check: (thing: Target, asked: Command, plan: Plan) => void): void {
  let accepted = 0;
  fc.assert(
    fc.property(anyThermostat, anyTarget, (thing, asked) => {
      const plan = planCommand(thing, [], asked);
      if (isCommandError(plan)) return;
      accepted++;
      check(thing, asked, plan);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(accepted > 200, `only ${accepted} commands were accepted`);
}

describe("a planned target of any thermostat", () => {
  it("is within its range, on a step, and keeps the gap", () => {
    forEachPlan(({ traits }, _asked, { steps: [{ set }] }) => {
      const { capabilities } = traits.thermostat!;
      const { heatCelsius, coolCelsius, targetCelsius } = set as Partial<Thermostat["state"]>;
      const { minHeatCelsius, maxHeatCelsius, minCoolCelsius, maxCoolCelsius, stepCelsius } = capabilities;
      if (heatCelsius != null) assertFits(heatCelsius, minHeatCelsius!, maxHeatCelsius!, stepCelsius);
      if (coolCelsius != null) assertFits(coolCelsius, minCoolCelsius!, maxCoolCelsius!, stepCelsius);
      if (heatCelsius != null && coolCelsius != null) {
        // Both targets and the gap are rounded to 0.01.
        assert.ok(coolCelsius - heatCelsius >= (capabilities.minGapCelsius ?? 0) - 0.0151);
      } else if (heatCelsius == null && coolCelsius == null) {
        const min = Math.max(minHeatCelsius!, minCoolCelsius!);
        assertFits(targetCelsius!, min, Math.min(maxHeatCelsius!, maxCoolCelsius!), stepCelsius);
      }
    });
  });

  it("is the same when it is planned again in the state that it leads to", () => {
    forEachPlan((thing, asked, plan) => {
      const after = stateAfter(thing, plan);
      assert.equal(judgeEcho(plan.expected, after.traits), "holds");
      assertAlike(planCommand(after, [], plan.absolute), plan);
      if (asked.command === "setTarget") {
        assertAlike(planCommand(after, [], asked), plan);
        assertAlike(planCommand(thing, [{ command: asked, plan, isSent: true }], asked), plan);
      }
    });
  });
});

/** Equal but for the last digit of temperatures: a step of °F has no exact value in °C. */
function assertAlike(actual: unknown, expected: unknown): void {
  assert.deepEqual(withNumbersOf(actual, expected), expected);
}

function withNumbersOf(actual: unknown, expected: unknown): unknown {
  if (typeof actual === "number" && typeof expected === "number") {
    return Math.abs(actual - expected) < 0.011 ? expected : actual;
  }
  if (typeof actual !== "object" || actual === null || typeof expected !== "object" || expected === null) return actual;
  if (Array.isArray(actual)) return actual.map((item, at) => withNumbersOf(item, (expected as unknown[])[at]));
  const entries = Object.entries(actual).map(([name, value]) => [
    name,
    withNumbersOf(value, (expected as Record<string, unknown>)[name]),
  ]);
  return Object.fromEntries(entries);
}

function assertFits(value: number, min: number, max: number, step: number | null): void {
  const steps = (value - min) / (step ?? 0.01);
  const accuracy = 0.0051;
  assert.ok(value >= min - accuracy && value <= max + accuracy, `${value} is outside ${min} to ${max}`);
  assert.ok(Math.abs(steps - Math.round(steps)) * (step ?? 0.01) <= accuracy, `${value} is ${steps} steps from ${min}`);
}

function stateAfter({ traits, isOnline }: Target, { steps }: Plan): Target {
  const thermostat = traits.thermostat!;
  const state = { ...thermostat.state, ...(steps[0].set as Partial<Thermostat["state"]>) };
  return { isOnline, traits: { thermostat: { ...thermostat, state } } };
}
