import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

/** Rows of a store, read and written directly. */
export interface StoreRows {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  all(statement: string): Promise<any[]>;
  end(): Promise<void>;
}

export async function storeRows(environment: Readonly<Record<string, string>>): Promise<StoreRows> {
  const { BREEZEWAY_DATABASE_URL: connectionString, BREEZEWAY_DATA: folder = "" } = environment;
  if (connectionString === undefined) {
    const database = new DatabaseSync(join(folder, "breezeway.db"));
    return { all: async (statement) => database.prepare(statement).all(), end: async () => database.close() };
  }
  const client = new pg.Client({ connectionString });
  await client.connect();
  return { all: async (statement) => (await client.query(statement)).rows, end: () => client.end() };
}
