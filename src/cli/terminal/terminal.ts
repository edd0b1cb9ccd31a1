import type { Build } from "../../model/build.ts";

/** An output: a terminal, a pipe or a file. */
export interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

/** Input and output of the command. Data goes to `out`, messages to `err`. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly build: Build;
  readonly input: NodeJS.ReadStream;
  readonly out: OutputStream;
  readonly err: OutputStream;
  /** The source of a variable, if it is known: the environment, or a file. */
  readonly origin?: (variable: string) => string;
}

/** Whether lines may be redrawn: only on a terminal, and unless TERM=dumb or CI says otherwise. */
export function canRedraw({ environment }: Pick<Terminal, "environment">, outlet: OutputStream): boolean {
  return outlet.isTTY === true && !environment.CI && environment.TERM !== "dumb";
}

/** Follows https://no-color.org; FORCE_COLOR turns colour on for pipes, as into a pager. */
export function hasColour(terminal: Pick<Terminal, "environment">, outlet: OutputStream): boolean {
  const { NO_COLOR, FORCE_COLOR } = terminal.environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return canRedraw(terminal, outlet);
}
