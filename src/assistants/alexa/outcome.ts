import type { CommandReceipt } from "../../devices/command-receipts.ts";
import type { CurrentThing } from "../current-thing.ts";
import { type AlarmOption, endpointsOf } from "./endpoint.ts";
import { alexaError, commandError } from "./errors.ts";
import { type AlexaEvent, errorResponse, type ReplyHeader, response } from "./messages.ts";
import { propertiesOf } from "./properties.ts";

/** The outcome of a command as the event that answers its directive. `thing`: as it is after the command. */
export function commandOutcome(
  header: ReplyHeader,
  { state, error, command }: Pick<CommandReceipt, "state" | "error" | "command">,
  thing: CurrentThing | undefined,
  alarms: AlarmOption,
  nowMs: number,
): AlexaEvent {
  const endpoint = thing && endpointsOf(thing, alarms).find(({ endpointId }) => endpointId === header.endpointId);
  if (state === "confirmed" && endpoint) return response(header, propertiesOf(endpoint, nowMs));
  if (state === "confirmed") return errorResponse(header, commandError({ code: "unknownThing" }, command.trait));
  if (error) return errorResponse(header, commandError(error, command.trait));
  const text = "The device accepted the command, and shows another state. Somebody may have changed it meanwhile.";
  return errorResponse(header, alexaError("INTERNAL_ERROR", text));
}

/** The answer when the outcome of a command is not known in time, or was removed with its thing. */
export function withoutOutcome(header: ReplyHeader, isThere: boolean): AlexaEvent {
  if (!isThere) return errorResponse(header, alexaError("NO_SUCH_ENDPOINT", "The device is not there any more."));
  const text = "The device has not shown in time whether it carried the command out. It may still do so.";
  return errorResponse(header, alexaError("ENDPOINT_UNREACHABLE", text));
}
