import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import { readKeyFile } from "./keys/key-file.ts";
import { keyIdOf } from "./keys/sealing.ts";
import { schemaVersion as knownVersion } from "./migrations.ts";
import { hasSealedValuesSql } from "./tables/sealed-values.ts";

/** Where a store is: PostgreSQL if there is a URL, otherwise SQLite in the folder. */
export interface StoreLocation {
  readonly databaseUrl?: string | undefined;
  readonly folder: string;
}

/** The state of a store, read without opening it for use. */
export interface StoreInspection {
  readonly keyProblem?: string | undefined;
  /** Undefined: there is no store yet. */
  readonly schemaVersion?: number | undefined;
  /** The oldest schema version whose nodes can run on this store; undefined where that is not stored. */
  readonly oldestVersion?: number | undefined;
  /** The schema version of this program. */
  readonly knownVersion: number;
  readonly databaseProblem?: string | undefined;
  /** How far the database's clock is ahead of this machine's; zero for SQLite. */
  readonly clockOffsetMs: number;
}

/** A database that has not answered everything by then is reported as silent. */
const longestReadMs = 10_000;
const longestEndMs = 1_000;

/** Reads the state of a store without changing anything: it creates no folder, no key and no table. */
export async function inspectStore(
  { databaseUrl, folder }: StoreLocation,
  keyFile: string,
  { limitMs = longestReadMs } = {},
): Promise<StoreInspection> {
  const raw = databaseUrl ? await readPostgres(databaseUrl, limitMs) : readSqlite(folder);
  const { neededKeys = [], ...facts } = raw;
  return { keyProblem: keyProblemOf(keyFile, neededKeys), knownVersion, clockOffsetMs: 0, ...facts };
}

/** Whether a store exists. One that can't be opened counts too: opening it later reports the error. */
export async function hasStore({ databaseUrl, folder }: StoreLocation): Promise<boolean> {
  if (!databaseUrl) return existsSync(join(folder, databaseName));
  const { schemaVersion, databaseProblem } = await readPostgres(databaseUrl);
  return schemaVersion !== undefined || databaseProblem !== undefined;
}

const databaseName = "breezeway.db";

type RawFacts = Partial<
  Pick<StoreInspection, "schemaVersion" | "oldestVersion" | "databaseProblem" | "clockOffsetMs">
> & {
  /** The ids of the keys without which the service doesn't start on this store. */
  readonly neededKeys?: readonly string[];
};

function keyProblemOf(keyFile: string, needed: readonly string[]): string | undefined {
  if (!existsSync(keyFile)) {
    return needed.length === 0 ? undefined : `${keyFile} does not exist, and the store needs key ${needed.join(", ")}`;
  }
  try {
    const inFile = readKeyFile(keyFile).map(keyIdOf);
    const missing = needed.filter((keyId) => !inFile.includes(keyId));
    return missing.length === 0 ? undefined : `${keyFile} lacks key ${missing.join(", ")}, which the store needs`;
  } catch (error) {
    return (error as Error).message;
  }
}

const neededKeys = `SELECT value FROM settings WHERE name = 'sealing_key_id'`;
/** On SQLite, a store without sealed values accepts any key. */
const hasSealedValues = `AND (${hasSealedValuesSql})`;

function keyIdsIn(row: unknown): readonly string[] {
  return String((row as { value?: string } | undefined)?.value ?? "")
    .split(" ")
    .filter((keyId) => keyId !== "");
}

function readSqlite(folder: string): RawFacts {
  const file = join(folder, databaseName);
  if (!existsSync(file)) return {};
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
    try {
      const row = database.prepare("SELECT MAX(step) AS step FROM schema_steps").get() as { step: number | null };
      return {
        schemaVersion: row.step ?? 0,
        oldestVersion: oldestVersionIn(database, row.step),
        // A store of another version may have other tables.
        neededKeys:
          row.step === knownVersion ? keyIdsIn(database.prepare(`${neededKeys} ${hasSealedValues}`).get()) : [],
      };
    } finally {
      database.close();
    }
  } catch (error) {
    return { databaseProblem: (error as Error).message };
  }
}

function oldestVersionIn(database: DatabaseSync, step: number | null): number | undefined {
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_reach'").get();
  const row = hasTable && database.prepare("SELECT oldest FROM schema_reach WHERE step = ?").get(step);
  return row?.oldest as number | undefined;
}

async function readPostgres(url: string, limitMs = longestReadMs): Promise<RawFacts> {
  const { GuardedClient } = await import("./postgres/pool.ts");
  const client = new GuardedClient({ connectionString: url, connectionTimeoutMillis: limitMs });
  try {
    return await within(limitMs, readWith(client));
  } catch (error) {
    // The connection string holds a password; the driver's message doesn't.
    return { databaseProblem: (error as Error).message };
  } finally {
    // The driver closes the socket at once while a query runs. Otherwise it waits for the database, which may be silent.
    await within(longestEndMs, client.end()).catch(() => undefined);
  }
}

async function readWith(client: pg.Client): Promise<RawFacts> {
  await client.connect();
  const sentMs = Date.now();
  const { rows } = await client.query(
    "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8 AS now, to_regclass('schema_steps') IS NOT NULL AS made",
  );
  const clockOffsetMs = rows[0].now - (sentMs + Date.now()) / 2;
  if (!rows[0].made) return { clockOffsetMs };
  const steps = await client.query("SELECT MAX(step)::int AS step FROM schema_steps");
  const schemaVersion: number = steps.rows[0].step ?? 0;
  const keys = keyIdsIn((await client.query(neededKeys)).rows[0]);
  const { rows: reachTable } = await client.query("SELECT to_regclass('schema_reach') IS NOT NULL AS made");
  if (!reachTable[0].made) return { clockOffsetMs, schemaVersion, neededKeys: keys };
  const reach = await client.query("SELECT oldest FROM schema_reach WHERE step = $1", [schemaVersion]);
  return { clockOffsetMs, schemaVersion, oldestVersion: reach.rows[0]?.oldest, neededKeys: keys };
}

async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs);
  });
  return Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
