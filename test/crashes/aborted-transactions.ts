import pg from "pg";

/**
 * Takes so many transaction ids and rolls back. Nothing makes them durable: a server that crashes before its next commit
 * gives the same ids out again.
 */
export async function abortTransactions(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN; SELECT pg_current_xact_id(); ROLLBACK;".repeat(count));
  } catch {
    // The server is down: the next attempt finds it.
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Lets nobody write until the connection ends, also not the nodes for themselves; whoever reads is answered. Resolves
 * when all that was under way is durable.
 */
export async function holdWrites(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const lock = `BEGIN; LOCK TABLE ${rows.map(({ name }) => name).join(", ")} IN EXCLUSIVE MODE`;
  // A transaction that holds one of the tables and waits for another is a deadlock: then this one lets go.
  while (!(await client.query(lock).then(isDone, (error) => isDeadlock(error)))) await client.query("ROLLBACK");
  return client;
}

const isDone = () => true;

function isDeadlock(error: Error & { code?: string }): false {
  if (error.code !== "40P01") throw error;
  return false;
}
