/** Data goes to standard output: in words on a terminal, as one JSON object when piped or asked for. */
export function present<Result extends object>(
  result: Result,
  tell: (result: Result) => string,
  asJson: boolean,
): void {
  const shown = asJson || !process.stdout.isTTY ? JSON.stringify(result) : tell(result);
  process.stdout.write(`${shown}\n`);
}

export type Cell = string | number | null | undefined | readonly string[];

/** Rows under a head. */
export function table(head: readonly string[], body: readonly (readonly Cell[])[]): string {
  return rows([head, ...body]);
}

export function rows(cells: readonly (readonly Cell[])[]): string {
  const lines = cells.map((line) => line.map(shownAs));
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `1 hour`, `3 grants`, `no links`. */
export function counted(count: number, what: string): string {
  return `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
}

/** A terminal takes control characters for orders; what came from outside must not give any. */
function shownAs(cell: Cell): string {
  const text = Array.isArray(cell) ? cell.join(" ") : String(cell ?? "");
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}
