import { type Command, Argument as CommandArgument } from "commander";
import type { Argument } from "./command.ts";

/** Adds an argument: one word, or all that follow. */
export function withArgument(command: Command, { name, meaning, isRequired, isList, choices }: Argument): Command {
  const shown = `${name}${isList ? "..." : ""}`;
  const argument = new CommandArgument(isRequired ? `<${shown}>` : `[${shown}]`, meaning);
  return command.addArgument(choices ? argument.choices(choices) : argument);
}
