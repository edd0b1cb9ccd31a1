import type { AdminCommand } from "./administration/admin-command.ts";
import type { OwnCommand } from "./command.ts";

/** Something that one can speak of, and the commands about it. */
export interface Noun {
  readonly name: string;
  /** The same word in the other number: both are understood. */
  readonly alias?: string;
  readonly meaning: string;
  readonly commands: readonly (AdminCommand | OwnCommand)[];
}

export function isAdmin(command: AdminCommand | OwnCommand): command is AdminCommand {
  return "act" in command;
}
