import pg from "pg";

/**
 * Uses up transaction ids by transactions that are rolled back. Their ids are not durable: a server that crashes before
 * its next commit assigns them again.
 */
export async function abortTransactions(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN; SELECT pg_current_xact_id(); ROLLBACK;".repeat(count));
  } catch {
    // The server is down; the next attempt will reach it.
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Blocks all writes, also those of the nodes, until the connection ends; reads are still answered. Resolves when all
 * earlier transactions have ended.
 */
export async function holdWrites(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const lock = `BEGIN; LOCK TABLE ${rows.map(({ name }) => name).join(", ")} IN EXCLUSIVE MODE`;
  // In a deadlock with a transaction that holds one table and waits for another, this one is rolled back.
  while (!(await client.query(lock).then(isDone, (error) => isDeadlock(error)))) await client.query("ROLLBACK");
  return client;
}

const isDone = () => true;

function isDeadlock(error: Error & { code?: string }): false {
  if (error.code !== "40P01") throw error;
  return false;
}
