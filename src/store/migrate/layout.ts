import type { DatabaseSync } from "node:sqlite";
import type { Sql } from "../sql.ts";

/** A table as both databases have it. Read from their catalogues, so that a new one is never forgotten. */
export interface TableLayout {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns whose order is the order of its rows, on both sides. */
  readonly key: readonly Column[];
  /** Whether PostgreSQL counts its ids. */
  readonly hasCountedIds: boolean;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  /** What stands in PostgreSQL in place of what stood in SQLite, as SQL of both. */
  readonly instead?: string;
}

/** What belongs to the one that ran, not to what it kept: who was alive, and which steps made the schema. */
const leftOut: readonly string[] = ["nodes", "schema_steps", "schema_reach"];

/** No node follows a link until one claims it, with the next epoch. */
const unowned: Readonly<Record<string, string>> = { "links.owner": "NULL" };

/**
 * Columns that PostgreSQL alone has, and what they hold for what came from elsewhere. The log's positions are pairs of a
 * transaction and an entry, and SQLite's transactions all count as 0, which no server ever gives out: with it each
 * position that anybody remembers, from a reader's last event to the webhooks' feed, means here what it meant there.
 */
export const ofPostgresAlone: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  log: { xid: "'0'::xid8" },
};

/** All tables that are copied, each behind those that it refers to. */
export async function layoutsOf(source: DatabaseSync, target: Sql): Promise<readonly TableLayout[]> {
  const names = tableNames(source).filter((name) => !leftOut.includes(name));
  const layouts: TableLayout[] = [];
  for (const name of inOrder(source, names)) layouts.push(await layoutOf(source, target, name));
  return layouts;
}

async function layoutOf(source: DatabaseSync, target: Sql, name: string): Promise<TableLayout> {
  const there = await target.all<{ name: string; type: string; isCounted: boolean; isKey: boolean }>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attidentity <> '' AS "isCounted",
       EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey))
         AS "isKey"
     FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [name],
  );
  const ours = there.filter((column) => ofPostgresAlone[name]?.[column.name] === undefined);
  const here = columnNames(source, name);
  if (
    here.toSorted().join() !==
    ours
      .map((column) => column.name)
      .toSorted()
      .join()
  ) {
    throw new Error(`the table ${name} has other columns in PostgreSQL than in SQLite`);
  }
  const columns = ours.map((column) => {
    const instead = unowned[`${name}.${column.name}`];
    return { name: column.name, type: column.type, isKey: column.isKey, ...(instead !== undefined && { instead }) };
  });
  // An id alone tells rows apart wherever there is one; the log's key has the user before it in one of the two.
  const id = columns.filter((column) => column.name === "id");
  const key = id.length > 0 ? id : columns.filter((column) => column.isKey);
  return { name, columns, key, hasCountedIds: ours.some((column) => column.isCounted) };
}

function tableNames(database: DatabaseSync): string[] {
  const rows = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all();
  return rows.map((row) => String(row.name)).sort();
}

function columnNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map((row) => String(row.name));
}

function inOrder(database: DatabaseSync, names: readonly string[]): readonly string[] {
  const refersTo = database.prepare(`SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)`);
  const ordered = new Set<string>();
  const visit = (name: string) => {
    if (ordered.has(name)) return;
    for (const before of refersTo.all(name)) if (before.name !== name) visit(String(before.name));
    ordered.add(name);
  };
  for (const name of names) visit(name);
  return [...ordered];
}
