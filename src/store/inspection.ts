import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readKeyFile } from "./keys/key-file.ts";
import { keyIdOf } from "./keys/sealing.ts";
import { schemaVersion as knownVersion } from "./migrations.ts";

/** Where a store is: PostgreSQL where an address is given, otherwise SQLite in the folder. */
export interface StorePlace {
  readonly databaseUrl?: string | undefined;
  readonly folder: string;
}

/** The state of a store, as read from outside. */
export interface StoreInspection {
  readonly keyProblem?: string | undefined;
  /** Undefined: there is no store yet. */
  readonly schemaVersion?: number | undefined;
  /** The oldest schema version whose nodes can run on this store; undefined where the store does not say. */
  readonly oldestVersion?: number | undefined;
  /** The schema version of this program. */
  readonly knownVersion: number;
  readonly databaseProblem?: string | undefined;
  /** How far the database's clock is ahead of this machine's; zero for SQLite. */
  readonly clockOffsetMs: number;
}

/** Reads the state of a store and changes nothing: it creates no folder, no key and no table. */
export async function inspectStore(place: StorePlace, keyFile: string): Promise<StoreInspection> {
  const seen = place.databaseUrl ? await seenInPostgres(place.databaseUrl) : seenInSqlite(place.folder);
  const { neededKeys = [], ...facts } = seen;
  return { keyProblem: problemWith(keyFile, neededKeys), knownVersion, clockOffsetMs: 0, ...facts };
}

/** Whether there is a store already. A store that can't be opened counts: opening it reports what is wrong. */
export async function hasStore({ databaseUrl, folder }: StorePlace): Promise<boolean> {
  if (!databaseUrl) return existsSync(join(folder, databaseName));
  const { schemaVersion, databaseProblem } = await seenInPostgres(databaseUrl);
  return schemaVersion !== undefined || databaseProblem !== undefined;
}

const databaseName = "breezeway.db";

type Seen = Partial<Pick<StoreInspection, "schemaVersion" | "oldestVersion" | "databaseProblem" | "clockOffsetMs">> & {
  /** The ids of the keys without which the service doesn't start on this store. */
  readonly neededKeys?: readonly string[];
};

function problemWith(keyFile: string, needed: readonly string[]): string | undefined {
  if (!existsSync(keyFile)) {
    return needed.length === 0 ? undefined : `${keyFile} is not there, and the store needs key ${needed.join(", ")}`;
  }
  try {
    const held = readKeyFile(keyFile).map(keyIdOf);
    const missing = needed.filter((keyId) => !held.includes(keyId));
    return missing.length === 0 ? undefined : `${keyFile} lacks key ${missing.join(", ")}, which the store needs`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A single node whose store has no sealed value starts with any key. Other versions may have other tables. */
const neededKeys = `SELECT value FROM settings WHERE name = 'sealing_key_id'`;
const hasSealed = "AND (EXISTS (SELECT 1 FROM links) OR EXISTS (SELECT 1 FROM webhooks))";

function idsIn(row: unknown): readonly string[] {
  return String((row as { value?: string } | undefined)?.value ?? "")
    .split(" ")
    .filter((keyId) => keyId !== "");
}

function seenInSqlite(folder: string): Seen {
  const file = join(folder, databaseName);
  if (!existsSync(file)) return {};
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
    try {
      const row = database.prepare("SELECT MAX(step) AS step FROM schema_steps").get() as { step: number | null };
      return {
        schemaVersion: row.step ?? 0,
        oldestVersion: oldestIn(database, row.step),
        neededKeys: row.step === knownVersion ? idsIn(database.prepare(`${neededKeys} ${hasSealed}`).get()) : [],
      };
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
    const keys = idsIn((await client.query(neededKeys)).rows[0]);
    const { rows: said } = await client.query("SELECT to_regclass('schema_reach') IS NOT NULL AS made");
    if (!said[0].made) return { clockOffsetMs, schemaVersion, neededKeys: keys };
    const reach = await client.query("SELECT oldest FROM schema_reach WHERE step = $1", [schemaVersion]);
    return { clockOffsetMs, schemaVersion, oldestVersion: reach.rows[0]?.oldest, neededKeys: keys };
  } catch (error) {
    // A connection string holds a password; what the driver says of the failure doesn't.
    return { databaseProblem: (error as Error).message };
  } finally {
    await client.end().catch(() => undefined);
  }
}
