import { createHash, type Hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { expandedText } from "../compressed-text.ts";
import type { TableLayout } from "./layout.ts";

export type Value = string | number | null;
export type Row = readonly Value[];

/** The number of rows of a table, and a digest of all rows in the order of their key. */
export interface TableSummary {
  readonly rows: number;
  readonly sha256: string;
}

/** Computes the summary of a table while its rows are read: column names first, then each row as a line of JSON. */
export class TableDigest {
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
/** Some rows are large: they hold a logo or an index map. */
const charactersAtOnce = 2_000_000;

/** The rows of a table with their values for PostgreSQL, in batches that fit into one statement. */
export function* sourceRows(database: DatabaseSync, { name, columns, key }: TableLayout): Generator<readonly Row[]> {
  const selected = columns.map((column) => column.replacement ?? quoted(column.name)).join(", ");
  const order = key.map((column) => quoted(column.name)).join(", ");
  const statement = database.prepare(`SELECT ${selected} FROM ${quoted(name)} ORDER BY ${order}`);
  statement.setReturnArrays(true);
  let batch: Row[] = [];
  let characters = 0;
  for (const stored of statement.iterate() as Iterable<unknown> as Iterable<readonly (Value | Uint8Array)[]>) {
    const row = stored.map((value) => (value instanceof Uint8Array ? expandedText(value) : value));
    batch.push(row);
    for (const value of row) if (typeof value === "string") characters += value.length;
    if (batch.length < rowsAtOnce && characters < charactersAtOnce) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
