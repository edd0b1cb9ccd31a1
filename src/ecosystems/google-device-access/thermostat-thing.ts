import type { Traits } from "../../home/catalogue.ts";
import type { Thing } from "../../home/thing.ts";
import type { Thermostat, ThermostatMode } from "../../home/traits/thermostat.ts";
import type { JsonObject } from "../../runtime/json/untrusted-json.ts";
import { celsiusOf, percentOf, textOf } from "../kit/document-values.ts";
import type { DeviceState } from "./device-state.ts";
import { thermostatType, traitNames } from "./trait-names.ts";

export interface TargetRange {
  readonly minCelsius: number;
  readonly maxCelsius: number;
}

const stepCelsius = 0.5;
const gapCelsius = 1.5;
const longestFanTimerMinutes = 720;

type Device = Pick<DeviceState, "type" | "parents" | "trait">;

/** The traits tell what a device can do. The type decides only for a thermostat that shows no traits at the moment. */
export function isThermostat(device: Device): boolean {
  return device.trait(traitNames.mode) !== undefined || device.type === thermostatType;
}

/** A trait that Google leaves out is not available at the moment, and keeps its stored values. */
export function thermostatThing(device: Device, range: TargetRange): Thing {
  const isOnline = onlineOf(device.trait(traitNames.connectivity)?.status);
  const room = roomOf(device);
  return {
    kind: "thermostat",
    structureId: structureOf(device),
    name: textOf(device.trait(traitNames.info)?.customName) || room,
    room,
    maker: "Google Nest",
    model: null,
    isOnline,
    traits: traitsOf(device, isOnline, range),
  };
}

/** The structure that a device belongs to; its parent is the structure, or a room of it. */
export function structureOf({ parents }: Pick<DeviceState, "parents">): string | null {
  for (const { parent } of parents) {
    const structure = typeof parent === "string" ? /^enterprises\/[^/]+\/structures\/[^/]+/.exec(parent) : null;
    if (structure) return structure[0];
  }
  return null;
}

function roomOf({ parents }: Pick<DeviceState, "parents">): string | null {
  const room = parents.find(({ parent }) => typeof parent === "string" && parent.includes("/rooms/"));
  return textOf(room?.displayName) || null;
}

function onlineOf(status: unknown): boolean | null {
  if (status === "ONLINE") return true;
  return status === "OFFLINE" ? false : null;
}

function traitsOf(device: Device, available: boolean | null, range: TargetRange): Traits {
  const unit = unitOf(device.trait(traitNames.settings)?.temperatureScale);
  const celsius = celsiusOf(device.trait(traitNames.temperature)?.ambientTemperatureCelsius);
  const percent = percentOf(device.trait(traitNames.humidity)?.ambientHumidityPercent);
  const mode = device.trait(traitNames.mode);
  const fan = device.trait(traitNames.fan);
  return {
    ...(mode && { thermostat: thermostatTrait(device, mode, available, unit, range) }),
    ...(celsius !== null && { temperature: { available, state: { celsius }, capabilities: units[unit ?? "none"] } }),
    ...(percent !== null && { humidity: { available, state: { percent }, capabilities: nothing } }),
    ...(fan && { fanTimer: fanTimerTrait(fan, available) }),
  };
}

function thermostatTrait(
  device: Device,
  modeTrait: JsonObject,
  available: boolean | null,
  unit: "C" | "F" | null,
  range: TargetRange,
): Thermostat {
  const eco = device.trait(traitNames.eco);
  const setpoint = device.trait(traitNames.setpoint);
  const ownMode = modes.get(modeTrait.mode) ?? null;
  const isEco = eco?.mode === "MANUAL_ECO";
  const [heatCelsius, coolCelsius] = [celsiusOf(setpoint?.heatCelsius), celsiusOf(setpoint?.coolCelsius)];
  return {
    available,
    state: {
      mode: isEco ? "eco" : ownMode,
      baseMode: isEco ? ownMode : null,
      heatCelsius,
      coolCelsius,
      targetCelsius: ownMode === "heat" ? heatCelsius : ownMode === "cool" ? coolCelsius : null,
      ecoHeatCelsius: celsiusOf(eco?.heatCelsius),
      ecoCoolCelsius: celsiusOf(eco?.coolCelsius),
      preset: null,
      action: actionOf(device.trait(traitNames.hvac)?.status, isEco ? "eco" : ownMode),
    },
    capabilities: capabilitiesOf(modesIn(modeTrait.availableModes, eco?.availableModes), unit, range),
  };
}

const modes: ReadonlyMap<unknown, ThermostatMode> = new Map([
  ["HEAT", "heat"],
  ["COOL", "cool"],
  ["HEATCOOL", "heatCool"],
  ["OFF", "off"],
]);

/** Null when Google does not tell which modes there are. */
function modesIn(own: unknown, eco: unknown): readonly ThermostatMode[] | null {
  if (!Array.isArray(own)) return null;
  const hasEco = Array.isArray(eco) && eco.includes("MANUAL_ECO");
  return [...own.flatMap((word) => modes.get(word) ?? []), ...(hasEco ? (["eco"] as const) : [])];
}

function actionOf(status: unknown, mode: ThermostatMode | null): Thermostat["state"]["action"] {
  if (status === "HEATING") return "heating";
  if (status === "COOLING") return "cooling";
  if (status !== "OFF") return null;
  return mode === "off" ? "off" : "idle";
}

/** Equal capabilities are the same object: there are few, and homes are many. */
function capabilitiesOf(
  settable: readonly ThermostatMode[] | null,
  unit: "C" | "F" | null,
  { minCelsius, maxCelsius }: TargetRange,
): Thermostat["capabilities"] {
  const key = `${settable} ${unit} ${minCelsius} ${maxCelsius}`;
  const capabilities = knownCapabilities.get(key) ?? {
    modes: settable,
    presets: null,
    dual: true,
    minHeatCelsius: minCelsius,
    maxHeatCelsius: maxCelsius,
    minCoolCelsius: minCelsius,
    maxCoolCelsius: maxCelsius,
    stepCelsius,
    unit,
    minGapCelsius: gapCelsius,
    single: null,
  };
  if (knownCapabilities.size < mostKnown) knownCapabilities.set(key, capabilities);
  return capabilities;
}

const knownCapabilities = new Map<string, Thermostat["capabilities"]>();
/** Bound on memory: the lists of modes come from outside. */
const mostKnown = 200;

/** Google shows the fan of a device without a fan as an empty trait. */
function fanTimerTrait(
  { timerMode, timerTimeout }: JsonObject,
  available: boolean | null,
): NonNullable<Traits["fanTimer"]> {
  const active = timerMode === "ON" ? true : timerMode === "OFF" ? false : null;
  // An event that ends the timer leaves its old end in place.
  const untilText = active ? textOf(timerTimeout) : null;
  const untilMs = untilText === null ? Number.NaN : Date.parse(untilText);
  return {
    available,
    state: { active, untilMs: untilMs > 0 ? untilMs : null, untilText },
    capabilities: timerMode === undefined ? noFan : fan,
  };
}

const fan = { supported: true, maxMinutes: longestFanTimerMinutes };
const noFan = { supported: false, maxMinutes: longestFanTimerMinutes };
const units = { C: { unit: "C" }, F: { unit: "F" }, none: { unit: null } } as const;
const nothing = {};

function unitOf(scale: unknown): "C" | "F" | null {
  if (scale === "CELSIUS") return "C";
  return scale === "FAHRENHEIT" ? "F" : null;
}
