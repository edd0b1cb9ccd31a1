import type { OutOfRange } from "../command-errors.ts";
import { intersection, roundToHundredths, type ValueRange } from "../value-range.ts";
import type { Thermostat } from "./thermostat.ts";

type Capabilities = Thermostat["capabilities"];

export function heatRange({ minHeatCelsius, maxHeatCelsius, stepCelsius }: Capabilities): ValueRange {
  return { min: minHeatCelsius, max: maxHeatCelsius, step: stepCelsius };
}

export function coolRange({ minCoolCelsius, maxCoolCelsius, stepCelsius }: Capabilities): ValueRange {
  return { min: minCoolCelsius, max: maxCoolCelsius, step: stepCelsius };
}

/** The range of a single target. In a mode that heats and cools, the target must suit both. */
export function targetRange(mode: Thermostat["state"]["mode"], capabilities: Capabilities): ValueRange {
  if (mode === "heat") return heatRange(capabilities);
  if (mode === "cool") return coolRange(capabilities);
  return intersection(heatRange(capabilities), coolRange(capabilities));
}

export function targetOutOfRange(parameter: string, { min, max }: ValueRange): OutOfRange {
  const limit = (value: number | null) => (value === null ? null : roundToHundredths(value));
  return { code: "outOfRange", parameter, min: limit(min), max: limit(max), unit: "celsius" };
}
