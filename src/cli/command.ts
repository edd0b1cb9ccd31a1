import type { Command } from "commander";
import type { Config, ConfigSources } from "../config/config.ts";
import type { Input } from "./input.ts";
import type { EntryPoints } from "./programs.ts";
import type { Printer } from "./terminal/output.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The syntax and help of a command. */
export interface DescribedCommand {
  /** Noun and verb: `tenant add`. */
  readonly name: string;
  readonly meaning: string;
  /** The examples in its help, without the leading `breezeway `. */
  readonly examples: readonly string[];
  readonly arguments?: readonly Argument[];
  /** Its own options, in addition to those of all commands. */
  readonly options?: (command: Command) => Command;
}

export interface Argument {
  readonly name: string;
  readonly meaning: string;
  readonly isRequired?: boolean;
  /** Takes all following words. */
  readonly isList?: boolean;
  readonly choices?: readonly string[];
}

/** A command that runs in this process: it calls a service as a client, or examines this machine. */
export interface OwnCommand extends DescribedCommand {
  /** Another word for the verb. */
  readonly alias?: string;
  /** The command that runs when only the noun is typed. */
  readonly isDefault?: boolean;
  /** A returned number is the exit code, for a result that is no error but not a success. */
  readonly run: (call: Call) => Promise<unknown>;
}

/** One run of a command. */
export interface Call {
  /** The input, by the names of options and arguments. */
  readonly typed: Input;
  readonly print: Printer;
  readonly terminal: Terminal;
  readonly programs: EntryPoints;
  /** Read on demand, because not every command needs a valid configuration. */
  readonly config: () => Config;
  readonly sources: ConfigSources;
  /** The whole program, for commands that describe it. */
  readonly program: Command;
}
