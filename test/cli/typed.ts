import { Readable } from "node:stream";
import { runCommandLine } from "../../src/cli/program.ts";
import type { Outlet } from "../../src/cli/terminal/terminal.ts";
import { programs } from "../../src/entry-points.ts";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What it printed, as a program reads it. */
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  readonly json: any;
}

export interface Desk {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** What is piped in. */
  readonly input?: string;
  /** Somebody sits at a terminal that is so wide. */
  readonly columns?: number;
  /** Hears each text as it is said to standard error. */
  readonly heard?: (text: string) => void;
}

/** A command line, run in this process as main.ts runs it. */
export async function typed(args: readonly string[], { environment = {}, ...desk }: Desk = {}): Promise<Said> {
  const [out, err] = [outlet(desk.columns), outlet(desk.columns, desk.heard)];
  const input = Readable.from([desk.input ?? ""]) as unknown as NodeJS.ReadStream;
  const code = await runCommandLine(args, programs, { environment, version: "0.0.0", input, out, err });
  return {
    code,
    out: out.text(),
    err: err.text(),
    get json() {
      return JSON.parse(out.text());
    },
  };
}

function outlet(columns: number | undefined, heard?: (text: string) => void): Outlet & { text(): string } {
  let said = "";
  return {
    isTTY: columns !== undefined,
    columns,
    rows: 60,
    write(text) {
      said += text;
      heard?.(text);
    },
    text: () => said,
  };
}
