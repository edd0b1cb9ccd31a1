import { progressOn } from "./progress.ts";
import { type Style, styleFor } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { cutTo, padTo, textWidth } from "./text-width.ts";

/** The output of a command: data to standard output, everything else to standard error. */
export interface Printer {
  /** Whether data is printed as JSON: on request, or when standard output is not a terminal. */
  readonly isJson: boolean;
  readonly style: Style;
  /** The width of the terminal; infinite elsewhere. */
  readonly width: number;
  /** Prints the answer of a command. */
  data<Result extends object>(result: Result, toText: (result: Result) => string): void;
  /** Prints one line of a continuing answer. */
  line(result: object, words: string): void;
  /** Prints a message for the user to standard error. */
  words(text: string): void;
  /** Shows progress if the work takes longer than a moment. */
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
    data: (result, toText) => print(isJson ? JSON.stringify(result) : toText(result)),
    line: (result, words) => print(isJson ? JSON.stringify(result) : words),
    words: (text) => void err.write(`${text}\n`),
    during: (what, work) => progressOn(terminal).during(what, work),
  };
}

export type Cell = string | number | null | undefined | readonly string[];

/** A column that is never shortened, because a part of an id or an address is useless. */
export interface WholeColumn {
  readonly title: string;
  readonly isWhole: true;
}

export function whole(title: string): WholeColumn {
  return { title, isWhole: true };
}

/** The column that the reader looks for: the others are shortened before it. */
export interface MainColumn {
  readonly title: string;
  readonly isMain: true;
}

export function main(title: string): MainColumn {
  return { title, isMain: true };
}

/** The beginning of a random id, as commands accept it: `bwc_1a2b3c4d`. */
export function shortId(id: string): string {
  return id.slice(0, id.indexOf("_") + 1 + shownLetters);
}

const shownLetters = 8;

/**
 * A table that fits the terminal. Whole columns keep their width, the others share the rest. If even that is too wide, the
 * terminal wraps the lines, so that ids and addresses stay complete.
 */
export function table(
  head: readonly (string | WholeColumn | MainColumn)[],
  body: readonly (readonly Cell[])[],
  width = stdoutWidth(),
): string {
  const titles = head.map((column) => (typeof column === "string" ? column : column.title));
  const lines = [titles, ...body].map((line) => line.map(shownAs));
  const columns = head.map((column, at) => ({
    wanted: Math.max(...lines.map((line) => textWidth(line[at] ?? ""))),
    kind: kindOf(column),
  }));
  const widths = fitted(columns, width - gap.length * (head.length - 1));
  return lines
    .map((line) =>
      line
        .map((cell, at) => padTo(cutTo(cell, widths[at] ?? 0), widths[at] ?? 0))
        .join(gap)
        .trimEnd(),
    )
    .join("\n");
}

/** Names and values of one object. Values are never shortened: long ones are wrapped. */
export function rows(facts: readonly (readonly [name: string, value: Cell])[], width = stdoutWidth()): string {
  const nameWidth = Math.max(...facts.map(([name]) => textWidth(name)));
  const indent = " ".repeat(nameWidth + gap.length);
  return facts
    .map(([name, value]) => {
      const lines = wrapped(shownAs(value), width - indent.length);
      return `${padTo(name, nameWidth)}${gap}${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join("\n");
}

/** `1 hour`, `3 grants`, `no links`. */
export function counted(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
}

/** Removes control characters, so that data from outside cannot control the terminal. */
export function shownAs(cell: Cell): string {
  const text = Array.isArray(cell) ? cell.join(" ") : String(cell ?? "");
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}

type ColumnKind = "whole" | "main" | "plain";

function kindOf(column: string | WholeColumn | MainColumn): ColumnKind {
  if (typeof column === "string") return "plain";
  return "isWhole" in column ? "whole" : "main";
}

const gap = "  ";
/** The order in which columns are shortened, each time to the least width if that is necessary. */
const shortening: readonly (readonly [kind: ColumnKind, leastWidth: number])[] = [
  ["plain", 20],
  ["main", 40],
  ["plain", 8],
  ["main", 24],
  ["plain", 4],
  ["main", 4],
];

/** Shortens the widest column that may shrink, one character at a time, until the table fits or no column can shrink. */
function fitted(
  columns: readonly { readonly wanted: number; readonly kind: ColumnKind }[],
  width: number,
): readonly number[] {
  const widths = columns.map(({ wanted }) => wanted);
  let over = widths.reduce((sum, one) => sum + one, 0) - width;
  for (const [kind, least] of shortening) {
    for (; over > 0; over--) {
      const shrinkable = widths.map((one, at) => (columns[at]!.kind !== kind || one <= least ? 0 : one));
      const most = Math.max(...shrinkable);
      if (most === 0) break;
      widths[shrinkable.indexOf(most)]! -= 1;
    }
  }
  return widths;
}

/** Wraps between words. A word that is longer than a line is not split. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function widthOf({ out }: Pick<Terminal, "out">): number {
  return out.isTTY ? out.columns || 80 : Number.POSITIVE_INFINITY;
}

function stdoutWidth(): number {
  return widthOf({ out: process.stdout });
}
