import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { OAuthWorld } from "../oauth-world.ts";

type Row = Readonly<Record<string, unknown>>;

/** All rows of all tables, as an attacker with a copy of the store would see them. */
export async function storedRows(
  world: Pick<OAuthWorld, "databaseUrl" | "folder">,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  return world.databaseUrl ? postgresRows(world.databaseUrl) : sqliteRows(world.folder);
}

/** The number of rows of the main tables. */
export async function storedCounts(world: OAuthWorld): Promise<Readonly<Record<string, number>>> {
  const tables = ["tenants", "users", "devices", "clients", "grants", "codes", "access_tokens", "refresh_tokens"];
  const rows = await storedRows(world);
  return Object.fromEntries(tables.map((table) => [table, rows.get(table)?.length ?? -1]));
}

/** Every file of the data folder, byte for byte. */
export function storedFiles(world: OAuthWorld): readonly { readonly name: string; readonly bytes: Buffer }[] {
  return globSync("**", { cwd: world.folder })
    .filter((name) => statSync(join(world.folder, name)).isFile())
    .map((name) => ({ name, bytes: readFileSync(join(world.folder, name)) }));
}

async function postgresRows(connectionString: string): Promise<ReadonlyMap<string, readonly Row[]>> {
  const database = new pg.Client({ connectionString });
  await database.connect();
  try {
    const { rows } = await database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const tables = new Map<string, readonly Row[]>();
    for (const { name } of rows) tables.set(name, (await database.query<Row>(`SELECT * FROM "${name}"`)).rows);
    return tables;
  } finally {
    await database.end();
  }
}

function sqliteRows(folder: string): ReadonlyMap<string, readonly Row[]> {
  const [file] = globSync("*.{sqlite,db}", { cwd: folder });
  if (!file) throw new Error(`no database in ${folder}`);
  const database = new DatabaseSync(join(folder, file), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
    return new Map(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all() as Row[]]));
  } finally {
    database.close();
  }
}
