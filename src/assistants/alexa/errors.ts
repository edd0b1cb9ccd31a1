import { type CommandError, commandErrorText } from "../../home/command-errors.ts";
import { limitedInCelsius } from "./temperatures.ts";

/** An error in the words of Alexa: the namespace of the ErrorResponse, and its payload. */
export interface AlexaError {
  readonly namespace: "Alexa" | "Alexa.ThermostatController" | "Alexa.Authorization";
  readonly payload: { readonly type: string; readonly message: string } & Readonly<Record<string, unknown>>;
}

export function alexaError(type: AlexaErrorType, message: string, details: object = {}): AlexaError {
  return { namespace: "Alexa", payload: { type, message, ...details } };
}

export function thermostatError(type: ThermostatErrorType, message: string, details: object = {}): AlexaError {
  return { namespace: "Alexa.ThermostatController", payload: { type, message, ...details } };
}

/** A grant that was not accepted. */
export function grantError(message: string): AlexaError {
  return { namespace: "Alexa.Authorization", payload: { type: "ACCEPT_GRANT_FAILED", message } };
}

export function isAlexaError(result: object): result is AlexaError {
  return "payload" in result;
}

/** Why a command was not carried out, for Alexa. `trait`: the trait of the command. */
export function commandError(error: CommandError, trait: string): AlexaError {
  const message = commandErrorText(error);
  switch (error.code) {
    case "outOfRange": {
      if (error.unit !== "celsius") return alexaError("VALUE_OUT_OF_RANGE", message, validRange(error, Number));
      return alexaError("TEMPERATURE_VALUE_OUT_OF_RANGE", message, validRange(error, limitedInCelsius));
    }
    case "rangeTooClose":
      return thermostatError("REQUESTED_SETPOINTS_TOO_CLOSE", message, {
        minimumTemperatureDelta: limitedInCelsius(error.gap),
      });
    case "modeNotSupported":
      if (trait !== "thermostat") return alexaError("INVALID_VALUE", message);
      return thermostatError("UNSUPPORTED_THERMOSTAT_MODE", message);
    case "notInMode":
      if (error.mode === "off") return thermostatError("THERMOSTAT_IS_OFF", message);
      return alexaError("NOT_SUPPORTED_IN_CURRENT_MODE", message, { currentDeviceMode: "OTHER" });
    case "notHome":
      return thermostatError("UNWILLING_TO_SET_VALUE", message);
    case "refused":
      if (trait !== "thermostat") return alexaError("INTERNAL_ERROR", message);
      return thermostatError("UNWILLING_TO_SET_VALUE", message);
    default:
      return alexaError(types[error.code], message);
  }
}

/** The errors whose type depends on nothing else. */
const types = {
  unknownThing: "NO_SUCH_ENDPOINT",
  notSupported: "INVALID_DIRECTIVE",
  badValue: "INVALID_VALUE",
  offline: "ENDPOINT_UNREACHABLE",
  stale: "ENDPOINT_UNREACHABLE",
  // The user must link the account of the ecosystem again. An error about a credential would send the user to the skill.
  needsReauth: "CLOUD_CONTROL_DISABLED",
  busy: "ENDPOINT_BUSY",
  rateLimited: "RATE_LIMIT_EXCEEDED",
  forbidden: "INSUFFICIENT_PERMISSIONS",
  noAnswer: "ENDPOINT_UNREACHABLE",
  notSent: "BRIDGE_UNREACHABLE",
  superseded: "ALREADY_IN_OPERATION",
} as const satisfies Partial<Record<CommandError["code"], AlexaErrorType>>;

function validRange(
  { min, max }: { readonly min: number | null; readonly max: number | null },
  shown: (value: number) => unknown,
): object {
  const range = {
    ...(min !== null && { minimumValue: shown(min) }),
    ...(max !== null && { maximumValue: shown(max) }),
  };
  return { validRange: range };
}

/** The error types of the namespace Alexa that this outlet uses. */
type AlexaErrorType =
  | "ALREADY_IN_OPERATION"
  | "BRIDGE_UNREACHABLE"
  | "CLOUD_CONTROL_DISABLED"
  | "ENDPOINT_BUSY"
  | "ENDPOINT_UNREACHABLE"
  | "EXPIRED_AUTHORIZATION_CREDENTIAL"
  | "INSUFFICIENT_PERMISSIONS"
  | "INTERNAL_ERROR"
  | "INVALID_AUTHORIZATION_CREDENTIAL"
  | "INVALID_DIRECTIVE"
  | "INVALID_VALUE"
  | "NO_SUCH_ENDPOINT"
  | "NOT_SUPPORTED_IN_CURRENT_MODE"
  | "RATE_LIMIT_EXCEEDED"
  | "TEMPERATURE_VALUE_OUT_OF_RANGE"
  | "VALUE_OUT_OF_RANGE";

type ThermostatErrorType =
  | "DUAL_SETPOINTS_UNSUPPORTED"
  | "REQUESTED_SETPOINTS_TOO_CLOSE"
  | "THERMOSTAT_IS_OFF"
  | "TRIPLE_SETPOINTS_UNSUPPORTED"
  | "UNSUPPORTED_THERMOSTAT_MODE"
  | "UNWILLING_TO_SET_SCHEDULE"
  | "UNWILLING_TO_SET_VALUE";
