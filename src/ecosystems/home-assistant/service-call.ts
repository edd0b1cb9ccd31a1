import type { Step, StepOf } from "../../home/command-plan.ts";
import { climateFanModes, modeWords, stepOf } from "./domains/climate.ts";
import { fanSwitchModes } from "./domains/fan.ts";
import { fromCelsius, numberOf } from "./domains/values.ts";
import type { EntityAttributes } from "./entity-states.ts";
import type { Group } from "./grouping.ts";
import type { InstanceHome } from "./instance-home.ts";
import type { Entity } from "./registries.ts";

type Parts = Group["parts"];

export interface ServiceCall {
  readonly domain: string;
  readonly service: string;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Why there is no service call: a clause for people. */
export interface Refusal {
  readonly refusal: string;
}

/** What is known of the instance that carries out the call. */
export type CalledHome = Pick<InstanceHome, "view" | "unit" | "tellsFanSwitching">;

/** The service call for a step of a command. */
export function serviceCallFor(step: Step, { parts }: Group, home: CalledHome): ServiceCall | Refusal {
  switch (step.trait) {
    case "onOff":
      return switching(parts, step.set.on === true, home);
    case "brightness":
      if (!parts.light) break;
      return call(parts.light, "turn_on", { brightness_pct: step.set.percent });
    case "thermostat":
      if (!parts.climate) break;
      return climateCall(step.set, parts.climate, home);
    case "fan":
      return fanCall(step.set, parts, home);
    case "fanTimer":
      // A client of the virtual device starts and stops the fan of a thermostat. It has no timer here.
      return fanCall({ mode: step.set.active ? "on" : idleMode(parts, home) }, parts, home);
  }
  return noCall;
}

const noCall: Refusal = { refusal: "the instance has no such command for it" };

function climateCall(
  { mode, preset, targetCelsius, heatCelsius, coolCelsius }: StepOf<"thermostat">["set"],
  climate: Entity,
  home: CalledHome,
): ServiceCall | Refusal {
  if (mode) {
    const word = modeWords[mode];
    return word === undefined ? noCall : call(climate, "set_hvac_mode", { hvac_mode: word });
  }
  if (preset) return call(climate, "set_preset_mode", { preset_mode: preset });
  const attributes = attributesOf(climate, home);
  const { unit } = home;
  const steps = { min: numberOf(attributes.min_temp), step: stepOf(attributes, unit) };
  const degrees = (celsius: number) => fromCelsius(celsius, unit, steps);
  if (typeof targetCelsius === "number")
    return call(climate, "set_temperature", { temperature: degrees(targetCelsius) });
  if (typeof heatCelsius !== "number" || typeof coolCelsius !== "number") return noCall;
  const pair = { target_temp_low: degrees(heatCelsius), target_temp_high: degrees(coolCelsius) };
  return call(climate, "set_temperature", pair);
}

function fanCall({ mode, percent }: StepOf<"fan">["set"], parts: Parts, home: CalledHome): ServiceCall | Refusal {
  const { climate, fan } = parts;
  if (typeof percent === "number" && fan) return call(fan, "set_percentage", { percentage: percent });
  if (!mode) return noCall;
  if (fan && !climate) return call(fan, "set_preset_mode", { preset_mode: mode });
  // The fan of a thermostat: its own modes, or a fan of its device.
  if (!fanModes(parts, home).includes(mode)) return { refusal: `the fan has no mode ${mode}` };
  const isOwn = climate && climateFanModes(attributesOf(climate, home));
  return isOwn ? call(climate, "set_fan_mode", { fan_mode: mode }) : call(fan!, `turn_${mode}`, {});
}

/** The mode in which a fan does not run by request. */
function idleMode(parts: Parts, home: CalledHome): string {
  return fanModes(parts, home).includes("auto") ? "auto" : "off";
}

/** The modes of the fan of a thermostat. */
function fanModes({ climate, fan }: Parts, home: CalledHome): readonly string[] {
  const own = climate && climateFanModes(attributesOf(climate, home));
  return own ?? (fan ? fanSwitchModes(attributesOf(fan, home), home.tellsFanSwitching) : []);
}

function switching(parts: Parts, isOn: boolean, home: CalledHome): ServiceCall | Refusal {
  const entity = parts.light ?? parts.switch ?? parts.fan;
  if (!entity) return noCall;
  const state = isOn ? "on" : "off";
  if (entity === parts.fan && !fanModes({ fan: entity }, home).includes(state)) {
    return { refusal: `the fan can't be turned ${state}` };
  }
  return call(entity, `turn_${state}`, {});
}

function attributesOf({ entityId }: Entity, { view }: CalledHome): EntityAttributes {
  return view(entityId).lastState?.attributes ?? {};
}

function call({ entityId }: Entity, service: string, data: Readonly<Record<string, unknown>>): ServiceCall {
  return { domain: entityId.slice(0, entityId.indexOf(".")), service, entityId, data };
}
