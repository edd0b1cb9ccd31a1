import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Config } from "../../src/config/config.ts";
import type { UserId } from "../../src/model/ids.ts";

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

/** The number of rows of each table that belong to a user, read directly: a forgotten table shows up here. */
export async function rowsOfUser(config: Config, userId: UserId): Promise<Record<string, number>> {
  return withDatabase(config, async (query, columnsNamed) => {
    const found: Record<string, number> = {};
    for (const { table, column } of await query(columnsNamed)) {
      const [row] = await query(`SELECT COUNT(*) AS count FROM ${table} WHERE ${column} = ${userId}`);
      if (Number(row!.count) > 0) found[String(table)] = (found[String(table)] ?? 0) + Number(row!.count);
    }
    return found;
  });
}

async function withDatabase<Result>(
  { databaseUrl, dataFolder }: Config,
  look: (query: Query, columnsNamed: string) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(dataFolder, "breezeway.db"), { readOnly: true });
    const columns = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master t JOIN pragma_table_info(t.name) c
      WHERE t.type = 'table' AND (c.name IN ('user_id', 'owner_id') OR (t.name = 'users' AND c.name = 'id'))`;
    const result = await look(async (text) => database.prepare(text).all(), columns);
    database.close();
    return result;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const columns = `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
    WHERE table_schema = 'public' AND (column_name IN ('user_id', 'owner_id') OR (table_name = 'users' AND column_name = 'id'))`;
  try {
    return await look(async (text) => (await client.query(text)).rows, columns);
  } finally {
    await client.end();
  }
}
