import { isMet, type Result } from "./row.ts";

export type NamedResult = Result & { readonly row: string };

const heading = ["row", "what", "reference", "figure", "spread", "bar", "met"];

/** The results as a table for people. */
export function tableOf(results: readonly NamedResult[]): string {
  const lines = [heading, ...results.map(cellsOf)];
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const shown = lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
  return `${[shown[0], "-".repeat(shown[0]!.length), ...shown.slice(1)].join("\n")}\n`;
}

function cellsOf(result: NamedResult): string[] {
  const { row, what, reference, figure, unit, spread, bar } = result;
  const met = isMet(result);
  return [
    row,
    what,
    reference ?? "-",
    `${rounded(figure)} ${unit}`,
    spread ? `${rounded(spread[0])}-${rounded(spread[1])}` : "-",
    bar === null ? "none yet" : "atMost" in bar ? `<= ${bar.atMost} ${unit}` : `>= ${bar.atLeast} ${unit}`,
    met === undefined ? "-" : met ? "yes" : "NO",
  ];
}

function rounded(figure: number): string {
  return figure.toFixed(Math.abs(figure) >= 100 ? 0 : Math.abs(figure) >= 10 ? 1 : 2);
}
