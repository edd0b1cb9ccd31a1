import type { Traits } from "../../src/home/catalogue.ts";
import { planCommand, readCommand } from "../../src/home/command.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import type { Command, Plan, PlannedCommand } from "../../src/home/command-plan.ts";
import type { Thing } from "../../src/home/thing.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";
import { nineToThirtyTwo } from "./home-parts.ts";

/** Things for the rules of commands; a test states only what matters to it. */
export type Target = Pick<Thing, "traits" | "isOnline">;

export function thingWith(traits: Traits, isOnline: boolean | null = true): Target {
  return { traits, isOnline };
}

/** A thermostat from 9 to 32 °C in steps of 0.5 °C, with heat 20, cool 24 and a gap of at least 1.5 °C. */
export function thermostatWith(
  state: Partial<Thermostat["state"]> = {},
  capabilities: Partial<Thermostat["capabilities"]> = {},
): Target {
  return thingWith({
    thermostat: {
      available: true,
      state: { ...heating, ...state },
      capabilities: { ...nineToThirtyTwo, ...capabilities },
    },
  });
}

export function lightWith({ readOnly = false, isDimmerOnly = false } = {}): Target {
  const brightness = { available: true, state: { percent: 50 }, capabilities: {} };
  if (isDimmerOnly) return thingWith({ brightness });
  return thingWith({ brightness, onOff: { available: true, state: { on: false }, capabilities: { readOnly } } });
}

export function fanWith(
  capabilities: { readonly modes?: readonly string[] | null; readonly percentStep?: number | null } = {},
  percent: number | null = null,
): Target {
  return thingWith({
    fan: {
      available: true,
      state: { mode: null, percent },
      capabilities: { modes: ["auto", "on"], percentStep: 25, ...capabilities },
    },
  });
}

export function fanTimerWith(supported: boolean | null = true, maxMinutes: number | null = 720): Target {
  return thingWith({
    fanTimer: {
      available: true,
      state: { active: false, untilMs: null, untilText: null },
      capabilities: { supported, maxMinutes },
    },
  });
}

/** `command("thermostat.setMode", { mode: "heat" })`. */
export function command(name: string, params?: unknown): Command {
  const [trait, command] = name.split(".") as [string, string];
  const read = readCommand(trait, command, params);
  if (isCommandError(read)) throw new Error(`${name} is no command: ${JSON.stringify(read)}`);
  return read;
}

export function planOf(thing: Target, asked: Command, queued: readonly PlannedCommand[] = []): Plan {
  const plan = planCommand(thing, queued, asked);
  if (isCommandError(plan)) throw new Error(`refused: ${JSON.stringify(plan)}`);
  return plan;
}

/** The fields that the steps of a plan set. */
export function setsOf({ steps }: Plan): unknown[] {
  return steps.map(({ set }) => set);
}

/** A queue of commands, each planned after those before it. The first `sent` of them were sent. */
export function queueOf(thing: Target, asked: readonly Command[], sent = 0): PlannedCommand[] {
  const queue: PlannedCommand[] = [];
  for (const [index, command] of asked.entries()) {
    queue.push({ command, plan: planOf(thing, command, queue), isSent: index < sent });
  }
  return queue;
}

const heating: Thermostat["state"] = {
  mode: "heat",
  baseMode: null,
  heatCelsius: 20,
  coolCelsius: 24,
  targetCelsius: 20,
  ecoHeatCelsius: 15,
  ecoCoolCelsius: 28,
  preset: null,
  action: null,
};
