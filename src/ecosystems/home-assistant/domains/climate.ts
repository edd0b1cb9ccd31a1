import type { Traits } from "../../../home/catalogue.ts";
import type { Fan } from "../../../home/traits/fan.ts";
import type { Thermostat, ThermostatMode } from "../../../home/traits/thermostat.ts";
import { percentOf, textOf } from "../../kit/document-values.ts";
import type { EntityAttributes, EntityState } from "../entity-states.ts";
import { featuresOf, numberOf, type TemperatureUnit, textsOf, toCelsius, toCelsiusStep } from "./values.ts";

/** Bits of `supported_features`. */
const targetTemperature = 1;
const targetRange = 2;
const fanMode = 8;
const presetMode = 16;

function hasFeature({ supported_features: features }: EntityAttributes, bits: number): boolean {
  return (featuresOf(features) & bits) !== 0;
}

/** What a climate entity tells: heating and cooling, its fan, temperature and humidity. */
export function climateTraits({ state, attributes }: EntityState, available: boolean, unit: TemperatureUnit): Traits {
  const celsius = toCelsius(attributes.current_temperature, unit);
  const humidity = percentOf(attributes.current_humidity);
  const fan = fanOf(attributes, available);
  return {
    thermostat: { available, state: stateOf(state, attributes, unit), capabilities: capabilitiesOf(attributes, unit) },
    ...(celsius !== null && { temperature: { available, state: { celsius }, capabilities: { unit } } }),
    ...(humidity !== null && { humidity: { available, state: { percent: humidity }, capabilities: {} } }),
    ...(fan && { fan }),
  };
}

/** The words of the service calls. */
export const modeWords: Readonly<Partial<Record<ThermostatMode, string>>> = {
  off: "off",
  heat: "heat",
  cool: "cool",
  heatCool: "heat_cool",
  auto: "auto",
  dry: "dry",
  fanOnly: "fan_only",
};

const modes: ReadonlyMap<unknown, ThermostatMode> = new Map(
  Object.entries(modeWords).map(([mode, word]) => [word, mode as ThermostatMode]),
);

function stateOf(word: string, attributes: EntityAttributes, unit: TemperatureUnit): Thermostat["state"] {
  const mode = modes.get(word) ?? null;
  const target = toCelsius(attributes.temperature, unit);
  // The single target belongs to the mode in force. A climate without it tells the pair in every mode.
  const singleMode = hasFeature(attributes, targetTemperature) ? mode : null;
  return {
    mode,
    baseMode: null,
    heatCelsius: singleMode === "heat" ? target : toCelsius(attributes.target_temp_low, unit),
    coolCelsius: singleMode === "cool" ? target : toCelsius(attributes.target_temp_high, unit),
    targetCelsius: target,
    ecoHeatCelsius: null,
    ecoCoolCelsius: null,
    preset: textOf(attributes.preset_mode),
    action: actions.find((action) => action === attributes.hvac_action) ?? null,
  };
}

const actions = ["off", "idle", "heating", "cooling", "fan", "drying", "preheating", "defrosting"] as const;

function capabilitiesOf(attributes: EntityAttributes, unit: TemperatureUnit): Thermostat["capabilities"] {
  // Every climate has a range, also one without targets.
  const hasTarget = hasFeature(attributes, targetTemperature | targetRange);
  const limit = (value: unknown) => (hasTarget ? toCelsius(value, unit) : null);
  const [min, max] = [limit(attributes.min_temp), limit(attributes.max_temp)];
  const words = textsOf(attributes.hvac_modes);
  return {
    modes: words?.flatMap((word) => modes.get(word) ?? []) ?? null,
    presets: hasFeature(attributes, presetMode) ? textsOf(attributes.preset_modes) : null,
    dual: hasFeature(attributes, targetRange),
    minHeatCelsius: min,
    maxHeatCelsius: max,
    minCoolCelsius: min,
    maxCoolCelsius: max,
    stepCelsius: toCelsiusStep(stepOf(attributes, unit), unit),
    unit,
    minGapCelsius: null,
    single: hasFeature(attributes, targetTemperature),
  };
}

/** The step of targets in the instance's unit. Without one, the instance's own pages use these. */
export function stepOf(attributes: EntityAttributes, unit: TemperatureUnit): number {
  return numberOf(attributes.target_temp_step) ?? (unit === "F" ? 1 : 0.5);
}

function fanOf(attributes: EntityAttributes, available: boolean): Fan | undefined {
  if (!hasFeature(attributes, fanMode)) return undefined;
  return {
    available,
    state: { mode: textOf(attributes.fan_mode), percent: null },
    capabilities: { modes: climateFanModes(attributes), percentStep: null },
  };
}

/** Null without a fan. */
export function climateFanModes(attributes: EntityAttributes): readonly string[] | null {
  return hasFeature(attributes, fanMode) ? textsOf(attributes.fan_modes) : null;
}
