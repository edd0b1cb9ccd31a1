import type { Command } from "../../../home/command-plan.ts";
import { type AlexaError, alexaError, thermostatError } from "../errors.ts";
import { celsiusOf, deltaCelsiusOf } from "../temperatures.ts";
import type { OfferedThing, Payload } from "./interface.ts";
import { hasPair, modeFor } from "./thermostat-modes.ts";

const setpoints = { targetSetpoint: "celsius", lowerSetpoint: "heatCelsius", upperSetpoint: "coolCelsius" } as const;

export function setTargetTemperature(payload: Payload, thing: OfferedThing): Command | AlexaError {
  if (payload.schedule !== undefined) {
    return thermostatError("UNWILLING_TO_SET_SCHEDULE", "The thermostat can't be set for a time. Set it without one.");
  }
  const params: Partial<Record<"celsius" | "heatCelsius" | "coolCelsius", number>> = {};
  for (const [name, parameter] of Object.entries(setpoints)) {
    if (payload[name] === undefined) continue;
    const celsius = celsiusOf(payload[name]);
    if (celsius === undefined) return unreadable(name);
    params[parameter] = celsius;
  }
  const { celsius, heatCelsius, coolCelsius } = params;
  const namesPair = heatCelsius !== undefined || coolCelsius !== undefined;
  if (!namesPair && celsius === undefined) return unreadable("targetSetpoint");
  if (namesPair && celsius !== undefined) {
    return thermostatError("TRIPLE_SETPOINTS_UNSUPPORTED", "A target can't be combined with a pair of setpoints.");
  }
  if (namesPair && !hasPair(thing)) {
    return thermostatError("DUAL_SETPOINTS_UNSUPPORTED", "The thermostat has one setpoint for heating and cooling.");
  }
  return { trait: "thermostat", command: "setTarget", params };
}

export function adjustTargetTemperature({ targetSetpointDelta }: Payload): Command | AlexaError {
  const deltaCelsius = deltaCelsiusOf(targetSetpointDelta);
  if (deltaCelsius === undefined) return unreadable("targetSetpointDelta");
  return { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius } };
}

export function setThermostatMode(
  { thermostatMode }: Payload,
  { traits: { thermostat } }: OfferedThing,
): Command | AlexaError {
  if (typeof thermostatMode !== "object" || thermostatMode === null) return unreadable("thermostatMode");
  const mode = thermostat && modeFor((thermostatMode as Payload).value, thermostat);
  if (mode) return { trait: "thermostat", command: "setMode", params: { mode } };
  return thermostatError("UNSUPPORTED_THERMOSTAT_MODE", "The thermostat does not have this mode.");
}

function unreadable(name: string): AlexaError {
  return alexaError("INVALID_DIRECTIVE", `The payload has no ${name} that can be read.`);
}
