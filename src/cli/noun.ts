import type { AdminCommand } from "./administration/admin-command.ts";
import type { OwnCommand } from "./command.ts";

/** A subject of commands, such as `tenant`, with its commands. */
export interface Noun {
  readonly name: string;
  /** The plural or singular; both are accepted. */
  readonly alias?: string;
  readonly meaning: string;
  /** Meanings of the second word, for commands of three words: `operator token make`. */
  readonly groups?: Readonly<Record<string, string>>;
  readonly commands: readonly (AdminCommand | OwnCommand)[];
}

export function isAdmin(command: AdminCommand | OwnCommand): command is AdminCommand {
  return "act" in command;
}
