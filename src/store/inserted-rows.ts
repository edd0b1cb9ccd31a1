import type { Parameter, Sql } from "./sql.ts";

/** A value of one column. */
export type InsertedValue = Exclude<Parameter, readonly unknown[]>;

/** Rows of one statement. With SQLite, 3,000 rows take half of the CPU that single statements take; more gain little. */
const rowsAtOnce = 20;

/** Inserts rows in their order with few statements. All rows have the same number of values. `into` ends before VALUES. */
export async function insertRows(
  sql: Pick<Sql, "run" | "runEach">,
  into: string,
  rows: readonly (readonly InsertedValue[])[],
): Promise<void> {
  const width = rows[0]?.length ?? 0;
  const grouped = rows.length - (rows.length % rowsAtOnce);
  const many = grouped > 0 ? insertion(into, width, rowsAtOnce) : "";
  for (let from = 0; from < grouped; from += rowsAtOnce) {
    await sql.run(many, rows.slice(from, from + rowsAtOnce).flat());
  }
  if (grouped < rows.length) await sql.runEach(insertion(into, width, 1), rows.slice(grouped));
}

function insertion(into: string, width: number, count: number): string {
  const values = (row: number) => Array.from({ length: width }, (_, column) => `$${row * width + column + 1}`);
  return `${into} VALUES ${Array.from({ length: count }, (_, row) => `(${values(row).join(", ")})`).join(", ")}`;
}
