import { type Thermostat, type ThermostatMode, thermostatModes } from "../../home/traits/thermostat.ts";
import { type CurrentThing, canSet, targetFields } from "../current-thing.ts";
import { badValue, type GoogleTrait, type States, vagueDifference } from "./trait.ts";

/** Google's words for our modes. */
const googleModes: Readonly<Record<ThermostatMode, string>> = {
  off: "off",
  heat: "heat",
  cool: "cool",
  heatCool: "heatcool",
  auto: "auto",
  eco: "eco",
  dry: "dry",
  fanOnly: "fan-only",
};
const ourModes: ReadonlyMap<unknown, ThermostatMode> = new Map(
  Object.entries(googleModes).map(([ours, theirs]) => [theirs, ours as ThermostatMode]),
);

/** Google asks for the least distance of the two targets; this is its own default. */
const defaultBufferCelsius = 2;
/** One step of a relative change without a number of degrees ("a bit warmer"). */
const degreesPerWeight = 0.5;

/** Heating and cooling, with the measured temperature. */
export const temperatureSetting: GoogleTrait = {
  name: "TemperatureSetting",

  attributes(thing) {
    const { thermostat, temperature } = thing.traits;
    if (!thermostat) return undefined;
    const { modes, unit, minGapCelsius } = thermostat.capabilities;
    const range = rangeOf(thermostat);
    const isSettable = canSet(thing, "thermostat", "mode", ...targetFields);
    return {
      // A thermostat that does not tell its modes may show any.
      availableThermostatModes: (modes ?? thermostatModes).map((mode) => googleModes[mode]),
      thermostatTemperatureUnit: unit ?? temperature?.capabilities.unit ?? "C",
      ...(range && {
        thermostatTemperatureRange: { minThresholdCelsius: range.min, maxThresholdCelsius: range.max },
      }),
      bufferRangeCelsius: minGapCelsius ?? defaultBufferCelsius,
      ...((!isSettable || (modes === null && !range)) && {
        commandOnlyTemperatureSetting: false,
        queryOnlyTemperatureSetting: true,
      }),
    };
  },

  states({ traits }) {
    const { thermostat, temperature, humidity } = traits;
    const ambient = temperature?.available === false ? null : (temperature?.state.celsius ?? null);
    const targets = thermostat && targetsOf(thermostat);
    if (!thermostat || thermostat.available === false || ambient === null || !targets) return undefined;
    const { mode, action } = thermostat.state;
    if (mode === null) return undefined;
    const percent = humidity?.available === false ? null : (humidity?.state.percent ?? null);
    return {
      thermostatMode: googleModes[mode],
      activeThermostatMode: activeModeOf(action),
      thermostatTemperatureAmbient: ambient,
      ...targets,
      ...(percent !== null && { thermostatHumidityAmbient: percent }),
    };
  },

  commands: {
    ThermostatTemperatureSetpoint({ thermostatTemperatureSetpoint: celsius }) {
      if (!isNumber(celsius)) return badValue("thermostatTemperatureSetpoint", "must be a number");
      return { trait: "thermostat", command: "setTarget", params: { celsius } };
    },
    ThermostatTemperatureSetRange(params) {
      const { thermostatTemperatureSetpointHigh: coolCelsius, thermostatTemperatureSetpointLow: heatCelsius } = params;
      if (!isNumber(coolCelsius)) return badValue("thermostatTemperatureSetpointHigh", "must be a number");
      if (!isNumber(heatCelsius)) return badValue("thermostatTemperatureSetpointLow", "must be a number");
      return { trait: "thermostat", command: "setTarget", params: { heatCelsius, coolCelsius } };
    },
    ThermostatSetMode({ thermostatMode }, thing) {
      // "On" means the mode that the thermostat had before it was switched off; Google leaves the choice to us.
      const mode = thermostatMode === "on" ? onMode(thing) : ourModes.get(thermostatMode);
      if (!mode) return badValue("thermostatMode", "must be a mode of the thermostat");
      return { trait: "thermostat", command: "setMode", params: { mode } };
    },
    TemperatureRelative(params, { traits: { thermostat } }) {
      const { thermostatTemperatureRelativeDegree: degrees, thermostatTemperatureRelativeWeight: weight } = params;
      const step = thermostat?.capabilities.stepCelsius ?? 0;
      const deltaCelsius = isNumber(degrees)
        ? degrees
        : isNumber(weight)
          ? vagueDifference(weight, degreesPerWeight, step)
          : undefined;
      if (deltaCelsius === undefined) return badValue("thermostatTemperatureRelativeDegree", "must be a number");
      return { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius } };
    },
  },
};

function rangeOf({ capabilities }: Thermostat): { readonly min: number; readonly max: number } | undefined {
  const { minHeatCelsius, minCoolCelsius, maxHeatCelsius, maxCoolCelsius } = capabilities;
  const least = [minHeatCelsius, minCoolCelsius].filter((value) => value !== null);
  const most = [maxHeatCelsius, maxCoolCelsius].filter((value) => value !== null);
  if (least.length === 0 || most.length === 0) return undefined;
  return { min: Math.min(...least), max: Math.max(...most) };
}

/** The target or targets of the mode in force, in the form that Google wants; undefined when none is known. */
function targetsOf({ state, capabilities }: Thermostat): States | undefined {
  const { mode, heatCelsius, coolCelsius, targetCelsius, ecoHeatCelsius, ecoCoolCelsius } = state;
  if (mode === "eco") {
    // The other targets are those of the mode that eco has replaced.
    const ofEco = ecoHeatCelsius ?? ecoCoolCelsius;
    return pairOrOne(ecoHeatCelsius, ecoCoolCelsius, ofEco ?? targetCelsius ?? heatCelsius ?? coolCelsius);
  }
  if (mode === "heatCool" && capabilities.dual !== false) return pairOrOne(heatCelsius, coolCelsius, targetCelsius);
  const own = mode === "heat" ? heatCelsius : mode === "cool" ? coolCelsius : null;
  return pairOrOne(null, null, targetCelsius ?? own ?? heatCelsius ?? coolCelsius);
}

function pairOrOne(low: number | null, high: number | null, one: number | null): States | undefined {
  if (low !== null && high !== null) {
    return { thermostatTemperatureSetpointHigh: high, thermostatTemperatureSetpointLow: low };
  }
  const known = one ?? low ?? high;
  return known === null ? undefined : { thermostatTemperatureSetpoint: known };
}

function activeModeOf(action: Thermostat["state"]["action"]): string {
  if (action === "heating" || action === "preheating") return "heat";
  if (action === "cooling") return "cool";
  if (action === "drying") return "dry";
  return action === "fan" ? "fan-only" : "none";
}

/** The mode that "on" means: the one before, or the most capable one. */
function onMode({ traits }: CurrentThing): ThermostatMode | undefined {
  const modes = traits.thermostat?.capabilities.modes ?? [];
  return (["heatCool", "auto", "heat", "cool"] as const).find((mode) => modes.includes(mode));
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
