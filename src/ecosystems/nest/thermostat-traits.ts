import type { Traits } from "../../home/catalogue.ts";
import type { FanTimer } from "../../home/traits/fan-timer.ts";
import type { Thermostat, ThermostatMode } from "../../home/traits/thermostat.ts";
import type { JsonObject } from "../../runtime/json/untrusted-json.ts";
import { celsiusOf, claimOf, percentOf } from "../kit/document-values.ts";

/** The ranges of the ecosystem's thermostats. The document does not tell them. */
const range = { minCelsius: 9, maxCelsius: 32, stepCelsius: 0.5, gapCelsius: 1.5 };

/** What a thermostat tells of heating, cooling, temperature and humidity, beside its fan timer. */
export function climateTraits(object: JsonObject, available: boolean | null, fanTimer: FanTimer): Traits {
  const unit = unitOf(object.temperature_scale);
  return {
    thermostat: thermostatTrait(object, available, unit),
    temperature: {
      available,
      state: { celsius: celsiusOf(object.ambient_temperature_c) },
      capabilities: units[unit ?? "none"],
    },
    humidity: { available, state: { percent: percentOf(object.humidity) }, capabilities: nothing },
    fanTimer,
  };
}

function thermostatTrait(object: JsonObject, available: boolean | null, unit: "C" | "F" | null): Thermostat {
  const mode = modeOf(object.hvac_mode);
  const baseMode = mode === "eco" ? modeOf(object.previous_hvac_mode) : null;
  const targetCelsius = celsiusOf(object.target_temperature_c);
  const inForce = baseMode ?? mode;
  return {
    available,
    state: {
      mode,
      baseMode,
      // The single target belongs to the mode; the pair belongs to heatCool, and keeps its values in other modes.
      heatCelsius: inForce === "heat" ? targetCelsius : celsiusOf(object.target_temperature_low_c),
      coolCelsius: inForce === "cool" ? targetCelsius : celsiusOf(object.target_temperature_high_c),
      targetCelsius,
      ecoHeatCelsius: celsiusOf(object.eco_temperature_low_c),
      ecoCoolCelsius: celsiusOf(object.eco_temperature_high_c),
      preset: null,
      action: actionOf(object.hvac_state, mode),
    },
    capabilities: capabilitiesOf(claimOf(object.can_heat), claimOf(object.can_cool), unit),
  };
}

/** Equal capabilities are the same object: there are few, and snapshots are many. */
function capabilitiesOf(
  canHeat: boolean | null,
  canCool: boolean | null,
  unit: "C" | "F" | null,
): Thermostat["capabilities"] {
  const key = `${canHeat} ${canCool} ${unit}`;
  const known = knownCapabilities.get(key);
  if (known) return known;
  const capabilities: Thermostat["capabilities"] = {
    modes: modesOf(canHeat, canCool),
    presets: null,
    dual: true,
    minHeatCelsius: range.minCelsius,
    maxHeatCelsius: range.maxCelsius,
    minCoolCelsius: range.minCelsius,
    maxCoolCelsius: range.maxCelsius,
    stepCelsius: range.stepCelsius,
    unit,
    minGapCelsius: range.gapCelsius,
    single: null,
  };
  knownCapabilities.set(key, capabilities);
  return capabilities;
}

const knownCapabilities = new Map<string, Thermostat["capabilities"]>();

function modeOf(word: unknown): ThermostatMode | null {
  if (word === "heat-cool") return "heatCool";
  return word === "heat" || word === "cool" || word === "eco" || word === "off" ? word : null;
}

function actionOf(word: unknown, mode: ThermostatMode | null): Thermostat["state"]["action"] {
  if (word === "heating" || word === "cooling") return word;
  if (word !== "off") return null;
  return mode === "off" ? "off" : "idle";
}

/** Null when the document does not tell what the thermostat can do. */
function modesOf(canHeat: boolean | null, canCool: boolean | null): readonly ThermostatMode[] | null {
  if (canHeat === null || canCool === null) return null;
  return modeLists[`${canHeat}-${canCool}`];
}

const modeLists = {
  "true-true": ["off", "heat", "cool", "heatCool", "eco"],
  "true-false": ["off", "heat", "eco"],
  "false-true": ["off", "cool", "eco"],
  "false-false": ["off", "eco"],
} as const satisfies Record<`${boolean}-${boolean}`, readonly ThermostatMode[]>;

const units = { C: { unit: "C" }, F: { unit: "F" }, none: { unit: null } } as const;
const nothing = {};

function unitOf(scale: unknown): "C" | "F" | null {
  return scale === "C" || scale === "F" ? scale : null;
}
