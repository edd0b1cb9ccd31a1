/** Where something is written to: a terminal, a pipe or a file. */
export interface Outlet {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

/** Whoever types, and where they read. Data goes to `out`, words about it to `err`. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly input: NodeJS.ReadStream;
  readonly out: Outlet;
  readonly err: Outlet;
  /** Where a variable was set, when that is known: the environment, or a file. */
  readonly origin?: (variable: string) => string;
}

/** Whether lines may be drawn over and colours shown: not on paper, not in a log, not for who asked for neither. */
export function isLively({ environment }: Pick<Terminal, "environment">, outlet: Outlet): boolean {
  return outlet.isTTY === true && !environment.CI && environment.TERM !== "dumb";
}

/** https://no-color.org; FORCE_COLOR is for who pipes into a pager and wants them all the same. */
export function hasColour(terminal: Pick<Terminal, "environment">, outlet: Outlet): boolean {
  const { NO_COLOR, FORCE_COLOR } = terminal.environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return isLively(terminal, outlet);
}
