import type { DatabaseSync } from "node:sqlite";
import type { Sql } from "../sql.ts";

/** A table that both databases have. Read from their catalogues, so that a new table is never forgotten. */
export interface TableLayout {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns that define the order of rows in both databases. */
  readonly key: readonly Column[];
  /** Whether PostgreSQL generates its ids (an identity column). */
  readonly hasCountedIds: boolean;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  /** An SQL expression that is copied instead of the column's value. */
  readonly replacement?: string;
}

/** Tables of the running deployment, which are not copied: its nodes and the steps of its schema. */
const excludedTables: readonly string[] = ["nodes", "schema_steps", "schema_reach"];

/** The copied links have no owner: the nodes on PostgreSQL claim them, with the next epoch. */
const replacements: Readonly<Record<string, string>> = { "links.owner": "NULL" };

/**
 * Columns that only PostgreSQL has, and their values in copied rows. A log position is a pair of a transaction id and an
 * entry id. On SQLite the transaction id is always 0, which PostgreSQL never issues. So positions that clients and
 * webhooks remember stay valid.
 */
export const postgresOnlyColumns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  log: { xid: "'0'::xid8" },
};

/** All tables to copy. A table comes after the tables that it references. */
export async function layoutsOf(source: DatabaseSync, target: Sql): Promise<readonly TableLayout[]> {
  const names = tableNames(source).filter((name) => !excludedTables.includes(name));
  const layouts: TableLayout[] = [];
  for (const name of orderByReferences(source, names)) layouts.push(await layoutOf(source, target, name));
  return layouts;
}

async function layoutOf(source: DatabaseSync, target: Sql, name: string): Promise<TableLayout> {
  const targetColumns = await target.all<{ name: string; type: string; isCounted: boolean; isKey: boolean }>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attidentity <> '' AS "isCounted",
       EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey))
         AS "isKey"
     FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [name],
  );
  const shared = targetColumns.filter((column) => postgresOnlyColumns[name]?.[column.name] === undefined);
  const sourceColumns = columnNames(source, name);
  if (
    sourceColumns.toSorted().join() !==
    shared
      .map((column) => column.name)
      .toSorted()
      .join()
  ) {
    throw new Error(`the table ${name} has other columns in PostgreSQL than in SQLite`);
  }
  const columns = shared.map((column) => {
    const replacement = replacements[`${name}.${column.name}`];
    return {
      name: column.name,
      type: column.type,
      isKey: column.isKey,
      ...(replacement !== undefined && { replacement }),
    };
  });
  // An id is unique where there is one. The primary key can't be used: on PostgreSQL that of the log begins with the user.
  const id = columns.filter((column) => column.name === "id");
  const key = id.length > 0 ? id : columns.filter((column) => column.isKey);
  return { name, columns, key, hasCountedIds: shared.some((column) => column.isCounted) };
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

function orderByReferences(database: DatabaseSync, names: readonly string[]): readonly string[] {
  const references = database.prepare(`SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)`);
  const ordered = new Set<string>();
  const visit = (name: string) => {
    if (ordered.has(name)) return;
    for (const referenced of references.all(name)) if (referenced.name !== name) visit(String(referenced.name));
    ordered.add(name);
  };
  for (const name of names) visit(name);
  return [...ordered];
}
