import type { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import { Conflict } from "../../model/errors.ts";
import type { Sql } from "../sql.ts";
import { postgresOnlyColumns, type TableLayout } from "./layout.ts";
import { quoted, type Row, type Value } from "./rows.ts";

const rowsAtOnce = 2_000;

/** Refuses a database that holds tables of another program. Must run before the schema is created. */
export async function refuseForeignTables(sql: Sql): Promise<void> {
  const [ours] = await sql.all<{ made: boolean }>("SELECT to_regclass('schema_steps') IS NOT NULL AS made");
  if (ours?.made) return;
  const [table] = await sql.all<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' LIMIT 1",
  );
  if (table) throw notEmpty(`it holds a table ${table.name} that isn't Breezeway's`);
}

/** Refuses a database that a service or a former copy has filled, and locks its tables until the transaction ends. */
export async function refuseUsedTables(sql: Sql, layouts: readonly TableLayout[]): Promise<void> {
  const names = [...layouts.map(({ name }) => name), "nodes"];
  await sql.run(`LOCK TABLE ${names.map(quoted).join(", ")} IN EXCLUSIVE MODE`);
  const singleRowTables = layouts.filter(hasOneRow).map(({ name }) => name);
  for (const name of names.filter((table) => !singleRowTables.includes(table))) {
    const [row] = await sql.all(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    if (row) throw notEmpty(`there are rows in ${name}`);
  }
}

/** Removes the row that the schema inserts into a table with a single row. The copy inserts its own. */
export async function clearInitialRows(sql: Sql, layout: TableLayout): Promise<void> {
  if (hasOneRow(layout)) await sql.run(`DELETE FROM ${quoted(layout.name)}`);
}

export async function insertRows(client: pg.PoolClient, layout: TableLayout, rows: readonly Row[]): Promise<void> {
  const { name, columns } = layout;
  const postgresOnly = Object.entries(postgresOnlyColumns[name] ?? {});
  const into = [...columns.map((column) => column.name), ...postgresOnly.map(([column]) => column)]
    .map(quoted)
    .join(", ");
  const lists = columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(", ");
  const values = ["given.*", ...postgresOnly.map(([, value]) => value)].join(", ");
  await client.query({
    name: `copy ${name}`,
    text: `INSERT INTO ${quoted(name)} (${into}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM unnest(${lists}) AS given`,
    values: columns.map((_, at) => arrayLiteral(rows.map((row) => row[at] ?? null))),
  });
}

/** Reads the copied rows back, in the order in which SQLite sorts text. */
export async function* copiedRows(client: pg.PoolClient, layout: TableLayout): AsyncGenerator<readonly Row[]> {
  const selected = layout.columns.map(({ name }) => quoted(name)).join(", ");
  const order = layout.key
    .map(({ name, type }) => `${quoted(name)}${type === "text" ? ' COLLATE "C"' : ""}`)
    .join(", ");
  await client.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${selected} FROM ${quoted(layout.name)} ORDER BY ${order}`,
  );
  for (;;) {
    const { rows } = await client.query<Value[]>({ text: `FETCH ${rowsAtOnce} FROM copied`, rowMode: "array" });
    if (rows.length === 0) break;
    yield rows;
  }
  await client.query("CLOSE copied");
}

/** Sets the id counter behind the last id that SQLite issued: an id is never used twice, even if its row was deleted. */
export async function advanceIdCounter(
  sql: Sql,
  source: DatabaseSync,
  { name, hasCountedIds }: TableLayout,
): Promise<void> {
  if (!hasCountedIds) return;
  const last = source.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(name)?.seq ?? 0;
  await sql.run(`ALTER TABLE ${quoted(name)} ALTER COLUMN id RESTART WITH ${Number(last) + 1}`);
}

function hasOneRow({ columns }: TableLayout): boolean {
  return columns.some(({ name }) => name === "only_row");
}

/** A PostgreSQL array literal. Building it here is faster than the driver, which inspects the type of each element. */
function arrayLiteral(values: readonly Value[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    return typeof value === "number" ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
  });
  return `{${elements.join()}}`;
}

function notEmpty(why: string): Conflict {
  return new Conflict(`The PostgreSQL database is not empty: ${why}. Make a new one; nothing was changed.`);
}
