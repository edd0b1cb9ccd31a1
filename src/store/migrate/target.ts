import type { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import { Conflict } from "../../model/errors.ts";
import type { Sql } from "../sql.ts";
import { ofPostgresAlone, type TableLayout } from "./layout.ts";
import { quoted, type Row, type Value } from "./rows.ts";

const rowsAtOnce = 2_000;

/** A database with tables of somebody else's, before ours are made there. */
export async function refuseForeign(sql: Sql): Promise<void> {
  const [ours] = await sql.all<{ made: boolean }>("SELECT to_regclass('schema_steps') IS NOT NULL AS made");
  if (ours?.made) return;
  const [table] = await sql.all<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' LIMIT 1",
  );
  if (table) throw notEmpty(`it holds a table ${table.name} that isn't Breezeway's`);
}

/** Whoever has started a service there, or copied something, is not overwritten. Nobody writes there until the end. */
export async function refuseUsed(sql: Sql, layouts: readonly TableLayout[]): Promise<void> {
  const names = [...layouts.map(({ name }) => name), "nodes"];
  await sql.run(`LOCK TABLE ${names.map(quoted).join(", ")} IN EXCLUSIVE MODE`);
  for (const name of names.filter((one) => !layouts.find((layout) => layout.name === one && isOneRow(layout)))) {
    const [row] = await sql.all(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    if (row) throw notEmpty(`there are rows in ${name}`);
  }
}

/** Its first rows come with the schema; the copy brings others in their place. */
export async function clearFirstRows(sql: Sql, layout: TableLayout): Promise<void> {
  if (isOneRow(layout)) await sql.run(`DELETE FROM ${quoted(layout.name)}`);
}

export async function insertRows(client: pg.PoolClient, layout: TableLayout, rows: readonly Row[]): Promise<void> {
  const { name, columns } = layout;
  const alone = Object.entries(ofPostgresAlone[name] ?? {});
  const into = [...columns.map((column) => column.name), ...alone.map(([column]) => column)].map(quoted).join(", ");
  const lists = columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(", ");
  const values = ["given.*", ...alone.map(([, value]) => value)].join(", ");
  await client.query({
    name: `copy ${name}`,
    text: `INSERT INTO ${quoted(name)} (${into}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM unnest(${lists}) AS given`,
    values: columns.map((_, at) => arrayOf(rows.map((row) => row[at] ?? null))),
  });
}

/** What is there now, read as the service reads it, in the order in which SQLite compares text. */
export async function* copiedRows(client: pg.PoolClient, layout: TableLayout): AsyncGenerator<readonly Row[]> {
  const shown = layout.columns.map(({ name }) => quoted(name)).join(", ");
  const order = layout.key
    .map(({ name, type }) => `${quoted(name)}${type === "text" ? ' COLLATE "C"' : ""}`)
    .join(", ");
  await client.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${shown} FROM ${quoted(layout.name)} ORDER BY ${order}`,
  );
  for (;;) {
    const { rows } = await client.query<Value[]>({ text: `FETCH ${rowsAtOnce} FROM copied`, rowMode: "array" });
    if (rows.length === 0) break;
    yield rows;
  }
  await client.query("CLOSE copied");
}

/** An id that was ever given is never given again, though its row may be gone. */
export async function goOnCounting(
  sql: Sql,
  source: DatabaseSync,
  { name, hasCountedIds }: TableLayout,
): Promise<void> {
  if (!hasCountedIds) return;
  const last = source.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(name)?.seq ?? 0;
  await sql.run(`ALTER TABLE ${quoted(name)} ALTER COLUMN id RESTART WITH ${Number(last) + 1}`);
}

function isOneRow({ columns }: TableLayout): boolean {
  return columns.some(({ name }) => name === "only_row");
}

/** PostgreSQL's own way to write a list, made at once: the driver would look at each element's type. */
function arrayOf(values: readonly Value[]): string {
  const written = values.map((value) => {
    if (value === null) return "NULL";
    return typeof value === "number" ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
  });
  return `{${written.join()}}`;
}

function notEmpty(why: string): Conflict {
  return new Conflict(`The PostgreSQL database is not empty: ${why}. Make a new one; nothing was changed.`);
}
