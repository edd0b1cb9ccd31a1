import { createHash, type Hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { TableLayout } from "./layout.ts";

export type Value = string | number | null;
export type Row = readonly Value[];

/** What a table holds, in one line: as many rows, and the digest of all of them in the order of their key. */
export interface TableSummary {
  readonly rows: number;
  readonly sha256: string;
}

/** Sums up rows as they pass by: names of columns first, then each row as JSON on a line. */
export class Summing {
  readonly #hash: Hash = createHash("sha256");
  #rows = 0;

  constructor({ columns }: TableLayout) {
    this.#hash.update(`${JSON.stringify(columns.map(({ name }) => name))}\n`);
  }

  add(rows: readonly Row[]): void {
    this.#rows += rows.length;
    this.#hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }

  summary(): TableSummary {
    return { rows: this.#rows, sha256: this.#hash.digest("hex") };
  }
}

const rowsAtOnce = 2_000;
/** Some rows are as large as a logo or an index map. */
const lettersAtOnce = 2_000_000;

/** The rows of a table as they are to stand in PostgreSQL, in pieces that fit into one statement. */
export function* sourceRows(database: DatabaseSync, { name, columns, key }: TableLayout): Generator<readonly Row[]> {
  const shown = columns.map((column) => column.instead ?? quoted(column.name)).join(", ");
  const order = key.map((column) => quoted(column.name)).join(", ");
  const statement = database.prepare(`SELECT ${shown} FROM ${quoted(name)} ORDER BY ${order}`);
  statement.setReturnArrays(true);
  let piece: Row[] = [];
  let letters = 0;
  for (const row of statement.iterate() as Iterable<unknown> as Iterable<Row>) {
    piece.push(row);
    for (const value of row) if (typeof value === "string") letters += value.length;
    if (piece.length < rowsAtOnce && letters < lettersAtOnce) continue;
    yield piece;
    [piece, letters] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
