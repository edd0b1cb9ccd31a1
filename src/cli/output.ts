import { progressOn } from "./progress.ts";
import { type Style, styleFor } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { cutTo, padTo, textWidth } from "./text-width.ts";

/** How a command speaks: data to standard output, everything else to standard error. */
export interface Printer {
  /** Whether data goes out as JSON: asked for, or nobody reads it on a terminal. */
  readonly isJson: boolean;
  readonly style: Style;
  /** The columns of the terminal; endless elsewhere. */
  readonly width: number;
  /** The one answer of a command. */
  data<Result extends object>(result: Result, tell: (result: Result) => string): void;
  /** One line of an answer that goes on and on. */
  line(result: object, words: string): void;
  /** For the person, never for a program that reads. */
  words(text: string): void;
  /** Shows that something is under way once it takes longer than a moment. */
  during<Result>(what: string, work: Promise<Result>): Promise<Result>;
}

export function printerFor(terminal: Terminal, { json = false } = {}): Printer {
  const { out, err } = terminal;
  const isJson = json || out.isTTY !== true;
  const print = (text: string) => void out.write(`${text}\n`);
  return {
    isJson,
    style: styleFor(terminal, out),
    width: widthOf(terminal),
    data: (result, tell) => print(isJson ? JSON.stringify(result) : tell(result)),
    line: (result, words) => print(isJson ? JSON.stringify(result) : words),
    words: (text) => void err.write(`${text}\n`),
    during: (what, work) => progressOn(terminal).during(what, work),
  };
}

export type Cell = string | number | null | undefined | readonly string[];

/** Rows under a head, within the columns of the terminal. */
export function table(head: readonly string[], body: readonly (readonly Cell[])[], width = stdoutWidth()): string {
  return rows([head, ...body], width);
}

export function rows(cells: readonly (readonly Cell[])[], width = stdoutWidth()): string {
  const lines = cells.map((line) => line.map(shownAs));
  const wanted = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => textWidth(line[column] ?? ""))));
  const widths = fitted(wanted, width - gap.length * (wanted.length - 1));
  return lines
    .map((line) =>
      line
        .map((cell, column) => padTo(cutTo(cell, widths[column] ?? 0), widths[column] ?? 0))
        .join(gap)
        .trimEnd(),
    )
    .join("\n");
}

/** `1 hour`, `3 grants`, `no links`. */
export function counted(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
}

/** A terminal takes control characters for orders; what came from outside must not give any. */
export function shownAs(cell: Cell): string {
  const text = Array.isArray(cell) ? cell.join(" ") : String(cell ?? "");
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}

const gap = "  ";
/** What is narrower than this is no longer read. */
const narrowest = 8;

/** Takes from the widest columns first, one by one, until all fit or none can give more. */
function fitted(wanted: readonly number[], width: number): readonly number[] {
  const widths = [...wanted];
  for (let over = widths.reduce((sum, one) => sum + one, 0) - width; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest]! -= 1;
  }
  return widths;
}

function widthOf({ out }: Pick<Terminal, "out">): number {
  return out.isTTY ? out.columns || 80 : Number.POSITIVE_INFINITY;
}

function stdoutWidth(): number {
  return widthOf({ out: process.stdout });
}
