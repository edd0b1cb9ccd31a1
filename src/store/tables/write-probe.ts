import { randomBytes } from "node:crypto";
import type { ProbeSize } from "../disk/writability.ts";
import type { Sql } from "../sql.ts";

/** More than one request ever commits. */
const ordinaryBytes = 1_048_576;
const rowBytes = 1_024;
const name = "write_probe";

/** Writes a row of `settings` that nothing reads. With `ordinary` it also writes and frees as much as a large commit. */
export async function writeProbe(sql: Sql, size: ProbeSize): Promise<void> {
  if (size === "ordinary") await (sql.dialect === "sqlite" ? takeLogSpace(sql) : takeTableSpace(sql));
  await set(sql, "");
}

/** A large value, overwritten at once: with `secure_delete`, even the freed pages go to the write-ahead log. */
async function takeLogSpace(sql: Sql): Promise<void> {
  await set(sql, "x".repeat(ordinaryBytes));
}

/**
 * PostgreSQL runs out of space when a table grows. A table of its own always grows, while an existing one may have
 * free space that other tables lack. The rollback removes its files.
 */
async function takeTableSpace(sql: Sql): Promise<void> {
  const table = `${name}_${randomBytes(8).toString("hex")}`;
  const rows = ordinaryBytes / rowBytes;
  for (const statement of [
    "SAVEPOINT space",
    `CREATE UNLOGGED TABLE ${table} (filler TEXT NOT NULL)`,
    `INSERT INTO ${table} SELECT repeat('x', ${rowBytes}) FROM generate_series(1, ${rows})`,
    "ROLLBACK TO SAVEPOINT space",
  ]) {
    await sql.run(statement);
  }
}

async function set(sql: Sql, value: string): Promise<void> {
  await sql.run(
    "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}
