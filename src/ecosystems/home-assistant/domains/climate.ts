import type { Traits } from "../../../home/catalogue.ts";
import type { Fan } from "../../../home/traits/fan.ts";
import type { Thermostat, ThermostatMode } from "../../../home/traits/thermostat.ts";
import type { JsonObject } from "../../../runtime/json/untrusted-json.ts";
import { percentOf, textOf } from "../../kit/document-values.ts";
import type { EntityState } from "../entity-states.ts";
import { featuresOf, numberOf, type TemperatureUnit, textsOf, toCelsius, toCelsiusStep } from "./values.ts";

/** Bits of `supported_features`. */
const targetRange = 2;
const fanMode = 8;
const presetMode = 16;

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

function stateOf(word: string, attributes: JsonObject, unit: TemperatureUnit): Thermostat["state"] {
  const mode = modes.get(word) ?? null;
  const target = toCelsius(attributes.temperature, unit);
  return {
    mode,
    baseMode: null,
    // The single target belongs to the mode in force; the pair is told only in heat_cool.
    heatCelsius: mode === "heat" ? target : toCelsius(attributes.target_temp_low, unit),
    coolCelsius: mode === "cool" ? target : toCelsius(attributes.target_temp_high, unit),
    targetCelsius: target,
    ecoHeatCelsius: null,
    ecoCoolCelsius: null,
    preset: textOf(attributes.preset_mode),
    action: actions.find((action) => action === attributes.hvac_action) ?? null,
  };
}

const actions = ["off", "idle", "heating", "cooling", "fan", "drying", "preheating", "defrosting"] as const;

function capabilitiesOf(attributes: JsonObject, unit: TemperatureUnit): Thermostat["capabilities"] {
  const features = featuresOf(attributes.supported_features);
  const [min, max] = [toCelsius(attributes.min_temp, unit), toCelsius(attributes.max_temp, unit)];
  const words = textsOf(attributes.hvac_modes);
  return {
    modes: words?.flatMap((word) => modes.get(word) ?? []) ?? null,
    presets: (features & presetMode) === 0 ? null : textsOf(attributes.preset_modes),
    dual: (features & targetRange) !== 0,
    minHeatCelsius: min,
    maxHeatCelsius: max,
    minCoolCelsius: min,
    maxCoolCelsius: max,
    stepCelsius: toCelsiusStep(stepOf(attributes, unit), unit),
    unit,
    minGapCelsius: null,
  };
}

/** The step of targets in the instance's unit. Without one, the instance's own pages use these. */
export function stepOf(attributes: JsonObject, unit: TemperatureUnit): number {
  return numberOf(attributes.target_temp_step) ?? (unit === "F" ? 1 : 0.5);
}

function fanOf(attributes: JsonObject, available: boolean): Fan | undefined {
  if ((featuresOf(attributes.supported_features) & fanMode) === 0) return undefined;
  return {
    available,
    state: { mode: textOf(attributes.fan_mode), percent: null },
    capabilities: { modes: textsOf(attributes.fan_modes), percentStep: null },
  };
}
