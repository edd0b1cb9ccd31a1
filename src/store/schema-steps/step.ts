import type { Dialect } from "../sql.ts";

/** A step of the schema: the statements of one transaction, or an index on a table that may be large. */
export type Step = ((dialect: DialectSql) => readonly string[]) | IndexStep;

/** Built on PostgreSQL with CREATE INDEX CONCURRENTLY, which can't run in a transaction. */
export interface IndexStep {
  readonly index: string;
  /** The table and its columns, as SQL. */
  readonly on: string;
}

/** Parts of statements that differ between the two databases. */
export interface DialectSql {
  readonly dialect: Dialect;
  /** The type of a generated primary key. */
  readonly id: string;
  /** The type of large integers, such as times. */
  readonly integer: string;
  readonly withoutRowid: string;
  /** The columns of a row that belongs to a device, and the primary key that they refer to. */
  readonly deviceKey: string;
}

export const dialectSql: Record<Dialect, DialectSql> = {
  sqlite: {
    dialect: "sqlite",
    // AUTOINCREMENT: an id is never used twice, even after its row was deleted.
    id: "INTEGER PRIMARY KEY AUTOINCREMENT",
    integer: "INTEGER",
    withoutRowid: "WITHOUT ROWID",
    deviceKey: "(device_id) REFERENCES devices (id)",
  },
  postgres: {
    dialect: "postgres",
    id: "INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer: "BIGINT",
    withoutRowid: "",
    deviceKey: "(user_id, device_id) REFERENCES devices (user_id, id)",
  },
};

/** Changes the primary key of a table on PostgreSQL. */
export function primaryKey(table: string, columns: string): string {
  return `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey, ADD PRIMARY KEY (${columns})`;
}

/** Changes the definition of a table on SQLite, which requires a new table. */
export function rebuilt(table: string, columns: string, definition: string): readonly string[] {
  return [
    `CREATE TABLE new_${table} ${definition}`,
    `INSERT INTO new_${table} (${columns}) SELECT ${columns} FROM ${table}`,
    `DROP TABLE ${table}`,
    `ALTER TABLE new_${table} RENAME TO ${table}`,
  ];
}
