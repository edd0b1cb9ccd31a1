import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

/** The tables that callers can grow. */
const growing = [
  "attributes",
  "triggers",
  "log",
  "webhooks",
  "webhook_deliveries",
  "commands",
  "grants",
  "access_tokens",
  "refresh_tokens",
  "sec_tokens",
  "audit",
  "failure_counts",
  "idempotency_keys",
  "things",
  "link_sessions",
  "feed_messages",
];

export async function countRows(settings: Readonly<Record<string, string>>): Promise<Readonly<Record<string, number>>> {
  const { BREEZEWAY_DATABASE_URL: url, BREEZEWAY_DATA: folder } = settings;
  const statement = growing
    .map((table) => `SELECT '${table}' AS name, COUNT(*) AS count FROM ${table}`)
    .join(" UNION ALL ");
  const rows = url === undefined ? inFile(folder!, statement) : await inDatabase(url, statement);
  return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
}

interface Counted {
  readonly name: string;
  readonly count: number | string;
}

function inFile(folder: string, statement: string): readonly Counted[] {
  const database = new DatabaseSync(join(folder, "breezeway.db"), { readOnly: true });
  try {
    return database.prepare(statement).all() as unknown as readonly Counted[];
  } finally {
    database.close();
  }
}

async function inDatabase(url: string, statement: string): Promise<readonly Counted[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Counted>(statement)).rows;
  } finally {
    await client.end();
  }
}
