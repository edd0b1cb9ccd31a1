import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Inspection } from "./cli/programs.ts";
import type { Config } from "./config.ts";
import { Conflict } from "./model/errors.ts";
import { dataFolder } from "./store/data-folder.ts";
import { readKeyFile } from "./store/key-file.ts";
import { schemaVersion as knownVersion } from "./store/migrations.ts";

/** Looks at a store from outside and changes nothing: no folder, key or table is made by looking. */
export async function inspect(config: Config): Promise<Inspection> {
  const folder = dataFolder(config.dataFolder);
  const keyFile = config.keyFile ?? folder.keyFile;
  const seen = config.databaseUrl ? await seenInPostgres(config.databaseUrl) : seenInSqlite(folder.path);
  const isRunning = !config.databaseUrl && existsSync(folder.path) && isLocked(folder);
  return { isRunning, keyFile, keyProblem: problemWith(keyFile), knownVersion, clockOffsetMs: 0, ...seen };
}

type Seen = Partial<Pick<Inspection, "schemaVersion" | "oldestVersion" | "databaseProblem" | "clockOffsetMs">>;

function isLocked(folder: ReturnType<typeof dataFolder>): boolean {
  if (!existsSync(join(folder.path, "breezeway.lock"))) return false;
  try {
    folder.lock()();
    return false;
  } catch (error) {
    return error instanceof Conflict;
  }
}

function problemWith(keyFile: string): string | undefined {
  if (!existsSync(keyFile)) return undefined;
  try {
    readKeyFile(keyFile);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function seenInSqlite(folder: string): Seen {
  const file = join(folder, "breezeway.db");
  if (!existsSync(file)) return {};
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
    try {
      const row = database.prepare("SELECT MAX(step) AS step FROM schema_steps").get() as { step: number | null };
      return { schemaVersion: row.step ?? 0, oldestVersion: oldestIn(database, row.step) };
    } finally {
      database.close();
    }
  } catch (error) {
    return { databaseProblem: (error as Error).message };
  }
}

function oldestIn(database: DatabaseSync, step: number | null): number | undefined {
  const isSaid = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_reach'").get();
  const row = isSaid && database.prepare("SELECT oldest FROM schema_reach WHERE step = ?").get(step);
  return row?.oldest as number | undefined;
}

async function seenInPostgres(url: string): Promise<Seen> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const askedMs = Date.now();
    const { rows } = await client.query(
      "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8 AS now, to_regclass('schema_steps') IS NOT NULL AS made",
    );
    const clockOffsetMs = rows[0].now - (askedMs + Date.now()) / 2;
    if (!rows[0].made) return { clockOffsetMs };
    const steps = await client.query("SELECT MAX(step)::int AS step FROM schema_steps");
    const schemaVersion: number = steps.rows[0].step ?? 0;
    const { rows: said } = await client.query("SELECT to_regclass('schema_reach') IS NOT NULL AS made");
    if (!said[0].made) return { clockOffsetMs, schemaVersion };
    const reach = await client.query("SELECT oldest FROM schema_reach WHERE step = $1", [schemaVersion]);
    return { clockOffsetMs, schemaVersion, oldestVersion: reach.rows[0]?.oldest };
  } catch (error) {
    // A connection string holds a password; what the driver says of the failure doesn't.
    return { databaseProblem: (error as Error).message };
  } finally {
    await client.end().catch(() => undefined);
  }
}
