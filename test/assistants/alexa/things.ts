import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { TraitName, Traits } from "../../../src/home/catalogue.ts";
import type { ThingState, TimedValue } from "../../../src/home/stored-thing.ts";
import { noConditions } from "../../../src/home/traits/alarm-states.ts";
import type { Thermostat } from "../../../src/home/traits/thermostat.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import { nineToThirtyTwo } from "../../home/home-parts.ts";

/** When every field of these things changed, unless a test says otherwise. */
export const changedMs = Date.UTC(2026, 10, 15, 21, 0, 0, 123);

/** A thing with these traits; a test states only what matters to it. */
export function thing(
  kind: CurrentThing["kind"],
  traits: Traits,
  facts: Partial<Omit<CurrentThing, "kind" | "capabilities" | "state" | "traits">> = {},
  times: Readonly<Record<string, number>> = {},
): CurrentThing {
  const state: Partial<Record<TraitName, Record<string, TimedValue>>> = {};
  const capabilities: Partial<Record<TraitName, Readonly<Record<string, unknown>>>> = {};
  for (const [name, trait] of Object.entries(traits) as [TraitName, NonNullable<Traits[TraitName]>][]) {
    const timed = (field: string, value: unknown) => [field, [value, times[`${name}.${field}`] ?? changedMs]];
    state[name] = Object.fromEntries([
      timed("available", trait.available),
      ...Object.entries(trait.state).map(([field, value]) => timed(field, value)),
    ]);
    capabilities[name] = trait.capabilities;
  }
  return {
    userId: 1 as UserId,
    deviceId: 1 as DeviceId,
    thingId: "t_0123456789abcdefABC-_9",
    source: "nest",
    goneMs: null,
    kind,
    name: "Hallway",
    room: null,
    homeName: "Home",
    maker: null,
    model: null,
    capabilities,
    state: state as ThingState,
    traits,
    isGoogles: false,
    isStale: false,
    ...facts,
  };
}

export function thermostat(
  state: Partial<Thermostat["state"]> = {},
  capabilities: Partial<Thermostat["capabilities"]> = {},
  available: boolean | null = true,
): Thermostat {
  return {
    available,
    state: {
      mode: "heat",
      baseMode: null,
      heatCelsius: 20.5,
      coolCelsius: 25,
      targetCelsius: 20.5,
      ecoHeatCelsius: 15,
      ecoCoolCelsius: 28,
      preset: null,
      action: null,
      ...state,
    },
    capabilities: {
      ...nineToThirtyTwo,
      modes: ["off", "heat", "cool", "heatCool", "eco"],
      dual: true,
      ...capabilities,
    },
  };
}

export function onOff(on: boolean | null, readOnly = false, available: boolean | null = true): Traits {
  return { onOff: { available, state: { on }, capabilities: { readOnly } } };
}

export function brightness(percent: number | null): Traits {
  return { brightness: { available: true, state: { percent }, capabilities: {} } };
}

export function temperature(celsius: number | null, available: boolean | null = true): Traits {
  return { temperature: { available, state: { celsius }, capabilities: { unit: "C" } } };
}

export function fanTimer(active: boolean | null, supported: boolean | null = true): Traits {
  const state = { active, untilMs: null, untilText: null };
  return { fanTimer: { available: true, state, capabilities: { supported, maxMinutes: null } } };
}

export function fan(
  mode: string | null,
  percent: number | null = null,
  modes: readonly string[] | null = ["auto", "on"],
): Traits {
  const percentStep = percent === null ? null : 1;
  return { fan: { available: true, state: { mode, percent }, capabilities: { modes, percentStep } } };
}

type State = NonNullable<Traits["smoke"]>["state"]["state"];

export function smoke(state: State, available: boolean | null = true): Traits {
  return { smoke: { available, state: { state, word: null, ...noConditions }, capabilities: { graded: true } } };
}

export function carbonMonoxide(state: State, available: boolean | null = true): Traits {
  return {
    carbonMonoxide: { available, state: { state, word: null, ...noConditions }, capabilities: { graded: true } },
  };
}
