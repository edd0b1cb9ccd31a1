import type { CommandReceipt } from "../../devices/command-receipts.ts";
import type { CommandError } from "../../home/command-errors.ts";

/** Google's codes, of which we use these. */
export type GoogleError =
  | "authFailure"
  | "deviceBusy"
  | "deviceNotFound"
  | "functionNotSupported"
  | "hardError"
  | "inAutoMode"
  | "inAwayMode"
  | "inDryMode"
  | "inEcoMode"
  | "inFanOnlyMode"
  | "inHeatOrCool"
  | "inOffMode"
  | "notSupported"
  | "offline"
  | "rangeTooClose"
  | "relinkRequired"
  | "transientError"
  | "valueOutOfRange";

const modeErrors: Readonly<Record<string, GoogleError>> = {
  off: "inOffMode",
  eco: "inEcoMode",
  auto: "inAutoMode",
  dry: "inDryMode",
  fanOnly: "inFanOnlyMode",
};

/** Google's code for the reason why a command was not carried out. */
export function googleErrorOf(error: CommandError): GoogleError {
  switch (error.code) {
    case "unknownThing":
      return "deviceNotFound";
    case "notSupported":
    case "modeNotSupported":
      return "functionNotSupported";
    case "badValue":
      return "notSupported";
    case "outOfRange":
      return "valueOutOfRange";
    case "rangeTooClose":
      return "rangeTooClose";
    case "notInMode":
      return modeErrors[error.mode] ?? "inHeatOrCool";
    case "offline":
    case "stale":
      return "offline";
    case "notHome":
      return "inAwayMode";
    case "needsReauth":
    case "forbidden":
      return "relinkRequired";
    case "busy":
      return "deviceBusy";
    case "refused":
      return "hardError";
    case "rateLimited":
    case "noAnswer":
    case "notSent":
    case "superseded":
      return "transientError";
  }
}

/** The code for a command that has ended without success. */
export function outcomeError({ state, error }: Pick<CommandReceipt, "state" | "error">): GoogleError {
  if (error) return googleErrorOf(error);
  return state === "contradicted" ? "hardError" : "transientError";
}
