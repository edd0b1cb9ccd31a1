import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ServiceFacts } from "./cli/admin-command.ts";
import { callControl, NobodyListens, ServiceSilent } from "./cli/control-socket.ts";
import type { Inspection } from "./cli/programs.ts";
import type { Config } from "./config.ts";
import { type DataFolder, dataFolder } from "./store/data-folder.ts";
import { readKeyFile } from "./store/key-file.ts";
import { schemaVersion as knownVersion } from "./store/migrations.ts";
import { keyIdOf } from "./store/sealing.ts";

/** Looks at a store from outside and changes nothing: no folder, key or table is made by looking. */
export async function inspect(config: Config): Promise<Inspection> {
  const folder = dataFolder(config.dataFolder);
  const keyFile = config.keyFile ?? folder.keyFile;
  const seen = config.databaseUrl ? await seenInPostgres(config.databaseUrl) : seenInSqlite(folder.path);
  const isRunning = !config.databaseUrl && folder.isInUse();
  const listensAt = isRunning ? await addressOn(folder) : undefined;
  const { neededKeys = [], ...facts } = seen;
  const keyProblem = problemWith(keyFile, neededKeys);
  return { isRunning, listensAt, keyFile, keyProblem, knownVersion, clockOffsetMs: 0, ...facts };
}

/** Whether there is a store already. One that can't be opened counts: opening it says what is wrong. */
export async function hasStore({ databaseUrl, dataFolder: given }: Config): Promise<boolean> {
  if (!databaseUrl) return existsSync(join(dataFolder(given).path, databaseName));
  const { schemaVersion, databaseProblem } = await seenInPostgres(databaseUrl);
  return schemaVersion !== undefined || databaseProblem !== undefined;
}

/** A service that is frozen does not answer. */
const silenceMs = 4_000;

/** As the service itself says; one of an older version knows only its address for clients. */
async function addressOn(folder: DataFolder): Promise<string | undefined> {
  const ask = async (command: string) =>
    (await callControl(folder.trustedSocket(), command, {}, undefined, silenceMs)) as ServiceFacts;
  try {
    return (await ask("listening")).listensAt;
  } catch (error) {
    if (error instanceof NobodyListens || error instanceof ServiceSilent) return undefined;
    return ask("status").then(
      ({ baseUrl }) => baseUrl,
      () => undefined,
    );
  }
}

const databaseName = "breezeway.db";

type Seen = Partial<Pick<Inspection, "schemaVersion" | "oldestVersion" | "databaseProblem" | "clockOffsetMs">> & {
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
