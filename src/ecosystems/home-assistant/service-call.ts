import type { Step, StepOf } from "../../home/command-plan.ts";
import { modeWords, stepOf } from "./domains/climate.ts";
import { featuresOf, fromCelsius, numberOf, type TemperatureUnit, textsOf } from "./domains/values.ts";
import type { EntityView } from "./entity-states.ts";
import type { Group } from "./grouping.ts";
import type { Entity } from "./registries.ts";

export interface ServiceCall {
  readonly domain: string;
  readonly service: string;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The service call for a step of a command; undefined when the thing has no entity for it. */
export function serviceCallFor(
  step: Step,
  { parts }: Group,
  view: (entityId: string) => EntityView,
  unit: TemperatureUnit,
): ServiceCall | undefined {
  switch (step.trait) {
    case "onOff": {
      const entity = parts.light ?? parts.switch ?? parts.fan;
      return entity && switching(entity, step.set.on === true);
    }
    case "brightness":
      return parts.light && call(parts.light, "turn_on", { brightness_pct: step.set.percent });
    case "thermostat":
      return parts.climate && climateCall(step.set, parts.climate, view(parts.climate.entityId), unit);
    case "fan":
      return fanCall(step.set, parts, view);
    case "fanTimer":
      // A client of the virtual device starts and stops the fan of a thermostat. It has no timer here.
      return fanCall({ mode: step.set.active ? "on" : idleMode(parts, view) }, parts, view);
  }
}

/** Bit of `supported_features` of a climate. */
const fanModeFeature = 8;

function climateCall(
  { mode, preset, targetCelsius, heatCelsius, coolCelsius }: StepOf<"thermostat">["set"],
  climate: Entity,
  { lastState }: EntityView,
  unit: TemperatureUnit,
): ServiceCall | undefined {
  if (mode) {
    const word = modeWords[mode];
    return word === undefined ? undefined : call(climate, "set_hvac_mode", { hvac_mode: word });
  }
  if (preset) return call(climate, "set_preset_mode", { preset_mode: preset });
  const attributes = lastState?.attributes ?? {};
  const steps = { min: numberOf(attributes.min_temp), step: stepOf(attributes, unit) };
  const degrees = (celsius: number) => fromCelsius(celsius, unit, steps);
  if (typeof targetCelsius === "number")
    return call(climate, "set_temperature", { temperature: degrees(targetCelsius) });
  if (typeof heatCelsius !== "number" || typeof coolCelsius !== "number") return undefined;
  const pair = { target_temp_low: degrees(heatCelsius), target_temp_high: degrees(coolCelsius) };
  return call(climate, "set_temperature", pair);
}

function fanCall(
  { mode, percent }: StepOf<"fan">["set"],
  parts: Group["parts"],
  view: (entityId: string) => EntityView,
): ServiceCall | undefined {
  if (mode && parts.climate && climateFanModes(parts.climate, view)) {
    return call(parts.climate, "set_fan_mode", { fan_mode: mode });
  }
  const { fan } = parts;
  if (!fan) return undefined;
  if (typeof percent === "number") return call(fan, "set_percentage", { percentage: percent });
  if (!mode) return undefined;
  return parts.climate ? switching(fan, mode === "on") : call(fan, "set_preset_mode", { preset_mode: mode });
}

/** The mode in which a fan does not run by request. */
function idleMode(parts: Group["parts"], view: (entityId: string) => EntityView): string {
  const modes = parts.climate && climateFanModes(parts.climate, view);
  return modes?.includes("auto") ? "auto" : "off";
}

function climateFanModes(climate: Entity, view: (entityId: string) => EntityView): readonly string[] | null {
  const attributes = view(climate.entityId).lastState?.attributes ?? {};
  const hasFan = (featuresOf(attributes.supported_features) & fanModeFeature) !== 0;
  return hasFan ? textsOf(attributes.fan_modes) : null;
}

function switching(entity: Entity, isOn: boolean): ServiceCall {
  return call(entity, isOn ? "turn_on" : "turn_off", {});
}

function call({ entityId }: Entity, service: string, data: Readonly<Record<string, unknown>>): ServiceCall {
  return { domain: entityId.slice(0, entityId.indexOf(".")), service, entityId, data };
}
