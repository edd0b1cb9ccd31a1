import { type TraitName, traits } from "../../home/catalogue.ts";
import { readCommand } from "../../home/command.ts";
import { type CommandError, commandErrorText, isCommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import { hasConsent, type ScopedPrincipal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import { InsufficientScope } from "../../model/scope-errors.ts";

const members = ["trait", "command", "params"];

/** Parses the body of a command: a JSON object with trait, command and params. */
export function commandOf(value: unknown): Command {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter("body", "The body must be a JSON object with trait, command and params.");
  }
  for (const name of Object.keys(value)) {
    if (!members.includes(name)) throw new BadParameter("body", "The body must hold only trait, command and params.");
  }
  return commandIn(value);
}

/** Reads the command among the members of an object. */
export function commandIn(value: object): Command {
  const { trait, command, params } = value as Readonly<Record<string, unknown>>;
  for (const [name, text] of Object.entries({ trait, command })) {
    if (typeof text !== "string") throw new BadParameter(name, `The member ${name} must be a text.`);
  }
  const read = readCommand(trait as string, command as string, params);
  if (!isCommandError(read)) return read;
  throw new BadParameter(
    read.code === "badValue" ? "params" : "command",
    refusalText(read, trait as string, command as string),
  );
}

/** Names only what the catalogue has: errors of this service never repeat words of the request. */
function refusalText(error: CommandError, trait: string, command: string): string {
  const catalogue = "The trait catalogue lists all commands and their parameters.";
  if (error.code === "notSupported") return `No thing accepts this command: ${error.reason}. ${catalogue}`;
  if (error.code !== "badValue" || error.parameter === "params") return commandErrorText(error);
  const { parameters } = traits[trait as TraitName].commands[command]!;
  if (Object.hasOwn(parameters, error.parameter)) return commandErrorText(error);
  return `A member of params is not a parameter of this command. ${catalogue}`;
}

/** Throws InsufficientScope for a command that the user has not consented to. */
export function requireConsent(caller: ScopedPrincipal, command: { readonly trait: string }): void {
  if (!hasConsent(caller, command)) throw new InsufficientScope(["devices:control"], ["devices:control"]);
}
