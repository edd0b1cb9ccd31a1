import type { Command } from "commander";
import type { Config, ConfigSources } from "../config/config.ts";
import type { Input } from "./input.ts";
import type { Programs } from "./programs.ts";
import type { Printer } from "./terminal/output.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** How a command is typed and what its help says. */
export interface DescribedCommand {
  /** As it is typed, noun and verb: `tenant add`. */
  readonly name: string;
  readonly meaning: string;
  /** What stands behind `breezeway ` in the examples of its help. */
  readonly examples: readonly string[];
  readonly arguments?: readonly Argument[];
  /** Its own options, beside those that all commands have. */
  readonly options?: (command: Command) => Command;
}

export interface Argument {
  readonly name: string;
  readonly meaning: string;
  readonly isRequired?: boolean;
  /** Takes all words that follow. */
  readonly isList?: boolean;
  readonly choices?: readonly string[];
}

/** A command that does its work here: it asks a service as any client would, or looks at this machine. */
export interface OwnCommand extends DescribedCommand {
  /** Another word for the verb. */
  readonly alias?: string;
  /** What is meant when only the noun is typed. */
  readonly isDefault?: boolean;
  /** A number is its exit code, for what is no error and yet not well. */
  readonly run: (call: Call) => Promise<unknown>;
}

/** One command under way. */
export interface Call {
  /** By the names of options and arguments. */
  readonly typed: Input;
  readonly print: Printer;
  readonly terminal: Terminal;
  readonly programs: Programs;
  /** Read when it is asked for: not every command needs a sound configuration. */
  readonly config: () => Config;
  readonly sources: ConfigSources;
  /** Everything that can be typed, for who describes it. */
  readonly program: Command;
}
