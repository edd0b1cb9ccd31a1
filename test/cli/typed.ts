import { Readable } from "node:stream";
import { runCommandLine } from "../../src/cli/program.ts";
import type { OutputStream } from "../../src/cli/terminal/terminal.ts";
import { programs } from "../../src/entry-points.ts";

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The printed JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  readonly json: any;
}

export interface CommandContext {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Standard input. */
  readonly input?: string;
  /** The width of the terminal; without it, output goes to a pipe. */
  readonly columns?: number;
  /** Called with each text on standard error. */
  readonly onError?: (text: string) => void;
}

/** Runs a command line in this process, as main.ts does. */
export async function typed(
  args: readonly string[],
  { environment = {}, ...context }: CommandContext = {},
): Promise<CommandResult> {
  const [out, err] = [outlet(context.columns), outlet(context.columns, context.onError)];
  const input = Readable.from([context.input ?? ""]) as unknown as NodeJS.ReadStream;
  const code = await runCommandLine(args, programs, {
    environment,
    build: { version: "0.0.0", commit: "unknown", schema: 1 },
    input,
    out,
    err,
  });
  return {
    code,
    out: out.text(),
    err: err.text(),
    get json() {
      return JSON.parse(out.text());
    },
  };
}

function outlet(columns: number | undefined, onError?: (text: string) => void): OutputStream & { text(): string } {
  let written = "";
  return {
    isTTY: columns !== undefined,
    columns,
    rows: 60,
    write(text) {
      written += text;
      onError?.(text);
    },
    text: () => written,
  };
}
