import type { Thermostat, ThermostatMode } from "../../../home/traits/thermostat.ts";
import { canSet, targetFields } from "../../current-thing.ts";
import { inCelsius, isSetpoint } from "../temperatures.ts";
import type { AlexaInterface, SourceField, Value } from "./interface.ts";
import { adjustTargetTemperature, setTargetTemperature, setThermostatMode } from "./thermostat-directives.ts";
import { alexaModeOf, alexaModesOf, hasPair, hasSingleTarget } from "./thermostat-modes.ts";

export const thermostatController: AlexaInterface = {
  namespace: "Alexa.ThermostatController",
  mayLackValues: true,
  traits: ["thermostat"],
  /** Alexa has no read-only thermostats or setpoints: offer only what commands can set. */
  offer: (thing) => {
    const { thermostat } = thing.traits;
    const canSetTarget = canSet(thing, "thermostat", ...targetFields);
    if (!thermostat || !(canSetTarget || canSet(thing, "thermostat", "mode"))) return undefined;
    const supportedModes = alexaModesOf(thermostat);
    if (supportedModes.length === 0) return undefined;
    const names = [
      ...(canSetTarget && hasSingleTarget(thing) ? ["targetSetpoint"] : []),
      ...(canSetTarget && hasPair(thing) ? ["lowerSetpoint", "upperSetpoint"] : []),
      "thermostatMode",
    ];
    return { names, details: { configuration: { supportedModes, supportsScheduling: false } } };
  },
  values: (thing) => {
    const { thermostat } = thing.traits;
    return thermostat ? [...modeValue(thermostat), ...setpointValues(thermostat, hasPair(thing))] : [];
  },
  directives: {
    SetTargetTemperature: setTargetTemperature,
    AdjustTargetTemperature: adjustTargetTemperature,
    SetThermostatMode: setThermostatMode,
  },
};

function modeValue({ state: { mode } }: Thermostat): readonly Value[] {
  const value = alexaModeOf(mode);
  return value === undefined ? [] : [{ name: "thermostatMode", value, from: [["thermostat", "mode"]] }];
}

type SetpointField = Extract<keyof Thermostat["state"], `${string}Celsius`>;

/** The setpoints in force. A mode without a target has none, such as `off`. */
function setpointValues(thermostat: Thermostat, isPair: boolean): readonly Value[] {
  const isSingle = thermostat.capabilities.single !== false;
  const single = (field: SetpointField | undefined) => (isSingle ? setpoint(thermostat, "targetSetpoint", field) : []);
  const pair = (heat: SetpointField, cool: SetpointField) => {
    const both = [...setpoint(thermostat, "lowerSetpoint", heat), ...setpoint(thermostat, "upperSetpoint", cool)];
    return both.length === 2 ? both : [];
  };
  const known = (...fields: readonly SetpointField[]) => fields.find((field) => isSetpoint(thermostat.state[field]));
  switch (thermostat.state.mode) {
    case "heat":
      return single(known("targetCelsius", "heatCelsius"));
    case "cool":
      return single(known("targetCelsius", "coolCelsius"));
    case "auto":
      return single(known("targetCelsius"));
    case "heatCool":
      return isPair ? pair("heatCelsius", "coolCelsius") : single(known("targetCelsius"));
    case "eco":
      return isPair ? pair("ecoHeatCelsius", "ecoCoolCelsius") : single(ecoField(thermostat));
    default:
      return [];
  }
}

/** The target of eco in a thermostat that only heats, or only cools. */
function ecoField({ capabilities: { modes } }: Thermostat): SetpointField | undefined {
  const can = (mode: ThermostatMode) => modes?.includes(mode) === true;
  if (can("heat") === can("cool")) return undefined;
  return can("heat") ? "ecoHeatCelsius" : "ecoCoolCelsius";
}

function setpoint({ state }: Thermostat, name: string, field: SetpointField | undefined): readonly Value[] {
  const celsius = field && state[field];
  if (!field || !isSetpoint(celsius)) return [];
  const from: readonly SourceField[] = [
    ["thermostat", field],
    ["thermostat", "mode"],
  ];
  return [{ name, value: inCelsius(celsius), from }];
}
