import { readCommand } from "../../home/command.ts";
import { isCommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import type { Directive } from "./directive.ts";
import type { Endpoint } from "./endpoint.ts";
import { type AlexaError, alexaError, commandError, isAlexaError } from "./errors.ts";

/** The command to the thing for which a directive asks, or why there is none. */
export function commandFor(directive: Directive, endpoint: Endpoint): Command | AlexaError {
  const { namespace, name, instance, payload } = directive;
  const called = endpoint.interfaces.find((one) => one.namespace === namespace && one.instance === instance);
  if (!called || !Object.hasOwn(called.directives, name)) {
    return alexaError("INVALID_DIRECTIVE", "The endpoint does not support this directive. Discover the devices again.");
  }
  const command = called.directives[name]!(payload, endpoint.thing);
  if (isAlexaError(command)) return command;
  const read = readCommand(command.trait, command.command, command.params);
  return isCommandError(read) ? commandError(read, command.trait) : read;
}
