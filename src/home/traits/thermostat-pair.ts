import type { CommandError } from "../command-errors.ts";
import type { Plan } from "../command-plan.ts";
import {
  halfStep,
  intersection,
  isEmpty,
  isNearRange,
  lackingSteps,
  roundToHundredths,
  shiftRange,
  snap,
} from "../value-range.ts";
import type { Thermostat } from "./thermostat.ts";
import { coolRange, heatRange, targetOutOfRange } from "./thermostat-ranges.ts";

/** The two targets of heatCool. */
export interface Pair {
  readonly heatCelsius: number;
  readonly coolCelsius: number;
}

/** Undefined while the ecosystem has not told both targets. */
export function pairOf({ state: { heatCelsius, coolCelsius } }: Thermostat): Pair | undefined {
  return heatCelsius === null || coolCelsius === null ? undefined : { heatCelsius, coolCelsius };
}

/**
 * Sets one or both targets. A target that is not named keeps its value. The step holds both, because some ecosystems
 * accept only pairs.
 */
export function planPair({ state, capabilities }: Thermostat, named: Partial<Pair>): Plan | CommandError {
  const [heat, cool] = [heatRange(capabilities), coolRange(capabilities)];
  if (named.heatCelsius !== undefined && !isNearRange(named.heatCelsius, heat)) {
    return targetOutOfRange("heatCelsius", heat);
  }
  if (named.coolCelsius !== undefined && !isNearRange(named.coolCelsius, cool)) {
    return targetOutOfRange("coolCelsius", cool);
  }
  const low = named.heatCelsius ?? state.heatCelsius;
  const high = named.coolCelsius ?? state.coolCelsius;
  if (low === null || high === null) return { code: "stale" };
  return planSnapped(capabilities, snap(low, heat), snap(high, cool));
}

/** Moves both targets, so that `centre` is in the middle between them. Their distance stays. */
export function planCentre(
  { capabilities }: Thermostat,
  { heatCelsius, coolCelsius }: Pair,
  centre: number,
  parameter: string,
): Plan | CommandError {
  const [heat, cool] = [heatRange(capabilities), coolRange(capabilities)];
  const gap = capabilities.minGapCelsius ?? 0;
  const shown = snap(coolCelsius, cool) - snap(heatCelsius, heat);
  // A distance that the ecosystem would refuse grows by whole steps, so that both targets stay on steps.
  const width = shown + lackingSteps(shown, gap, heat);
  const heatTargets = intersection(heat, shiftRange(cool, -width));
  if (isEmpty(heatTargets)) return { code: "rangeTooClose", gap };
  const centres = shiftRange(heatTargets, width / 2);
  if (!isNearRange(centre, centres)) return targetOutOfRange(parameter, centres);
  const low = snap(centre - width / 2, heatTargets);
  return planSnapped(capabilities, low, low + width);
}

function planSnapped(capabilities: Thermostat["capabilities"], low: number, high: number): Plan | CommandError {
  const gap = capabilities.minGapCelsius ?? 0;
  const range = heatRange(capabilities);
  if (lackingSteps(high - low, gap, range) > 0) return { code: "rangeTooClose", gap };
  const pair = { heatCelsius: roundToHundredths(low), coolCelsius: roundToHundredths(high) };
  const tolerance = halfStep(range);
  return {
    steps: [{ trait: "thermostat", set: pair }],
    expected: [
      { trait: "thermostat", field: "heatCelsius", value: pair.heatCelsius, tolerance },
      { trait: "thermostat", field: "coolCelsius", value: pair.coolCelsius, tolerance },
    ],
    absolute: { trait: "thermostat", command: "setTarget", params: pair },
  };
}
