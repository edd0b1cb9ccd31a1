import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { freePort } from "./free-port.ts";
import { ensurePostgres, type InstalledPostgres } from "./installed-postgres.ts";
import { type Account, serverAccount } from "./postgres-account.ts";
import { cleanEnvironment, type Server, startServer } from "./postgres-server.ts";

export { ensurePostgres, missingPostgres } from "./installed-postgres.ts";

/** A PostgreSQL server of the tests' own, thrown away with all it holds. */
export interface Cluster {
  readonly url: string;
  /** A fresh database; answers its address. It is empty, or with `hasSchema` as the first start of a service leaves it. */
  createDatabase(options?: { readonly onFolder?: string; readonly hasSchema?: boolean }): Promise<string>;
  /** Ends the server as a crash would, and starts it again on what it had made durable. */
  crash(): Promise<void>;
  /** Ends every process of the server with SIGKILL, and starts it again on what it had made durable. */
  kill(): Promise<void>;
  /** The same, and the server stays down. */
  killForGood(): Promise<void>;
  /** Shuts it down, until it is started again. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly place: ClusterPlace;
}

/** Where a cluster lies, for what PostgreSQL's own programs do with it. */
export interface ClusterPlace {
  readonly bin: string;
  /** Its data is in `data` there. */
  readonly folder: string;
  readonly account: Account | undefined;
}

export interface ClusterOptions {
  /** Off only where nothing is said about what survives. */
  readonly fsync?: boolean;
  /** More settings of the server. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Fills the new cluster's data folder; without it, it is a fresh one. */
  readonly prepare?: (place: ClusterPlace) => void | Promise<void>;
  /** It follows a primary until it is promoted. */
  readonly isStandby?: boolean;
  /** The server of another installation than most tests use. */
  readonly installation?: Pick<InstalledPostgres, "bin">;
}

const portAttempts = 3;
/** The database that others are copied from. */
const templateName = "with_schema";
/** Under this name `npm test` tells its test processes where a prepared cluster lies. */
const preparedAt = "TEST_CLUSTER";

/**
 * Without fsync a server that crashes loses nothing, only a machine that does. Autovacuum would start a process for each
 * of many small databases, again and again.
 */
const thrownAway: ClusterOptions = { fsync: false, settings: { autovacuum: "off", full_page_writes: "off" } };
let shared: Promise<Cluster> | undefined;

/** The one cluster of this test process, started when first asked for; it ends with the process. */
export function sharedCluster(): Promise<Cluster> {
  shared ??= startCluster(thrownAway);
  return shared;
}

/** Prepares a cluster with a template database once for all test processes of this run: each starts on a copy of it. */
export async function prepareCluster(): Promise<void> {
  const cluster = await startCluster(thrownAway);
  await makeTemplate(cluster.url);
  await cluster.halt();
  process.env[preparedAt] = join(cluster.place.folder, "data");
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { fsync = true, settings, isStandby = false } = options;
  const { bin } = options.installation ?? ensurePostgres();
  const prepare = options.prepare ?? (options.installation ? initialise : copyPrepared);
  const account = serverAccount();
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-postgres-"));
    try {
      if (account) chownSync(folder, account.uid, account.gid);
      const place = { bin, folder, account };
      await prepare(place);
      const port = await freePort();
      const server = await startServer({ ...place, port, fsync, settings, isStandby });
      return clusterOn(server, `postgres://breezeway@127.0.0.1:${port}`, place);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      // Somebody may have taken the port meanwhile.
      if (attempt === portAttempts || !String(error).includes("could not bind")) throw error;
    }
  }
}

function clusterOn(server: Server, url: string, place: ClusterPlace): Cluster {
  const { folder, account } = place;
  const administratorUrl = `${url}/postgres`;
  let template: Promise<void> | undefined;
  let databases = 0;
  return {
    url: administratorUrl,
    async createDatabase({ onFolder, hasSchema = false } = {}) {
      const name = `test_${++databases}`;
      if (hasSchema) {
        template ??= makeTemplate(administratorUrl);
        await template;
        await administer(administratorUrl, `CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY FILE_COPY`);
      } else if (onFolder === undefined) await administer(administratorUrl, `CREATE DATABASE ${name}`);
      else {
        const space = join(onFolder, name);
        mkdirSync(space);
        if (account) chownSync(space, account.uid, account.gid);
        const create = `CREATE DATABASE ${name} TABLESPACE ${name}`;
        await administer(administratorUrl, `CREATE TABLESPACE ${name} LOCATION '${space}'`, create);
      }
      return `${url}/${name}`;
    },
    place,
    crash: () => server.crash(),
    kill: () => server.kill(),
    killForGood: () => server.killForGood(),
    halt: () => server.halt(),
    start: () => server.start(),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes the template database where it is missing: a copy of it is cheaper than all steps of the schema. */
async function makeTemplate(url: string): Promise<void> {
  const [found] = await administer(url, `SELECT FROM pg_database WHERE datname = '${templateName}'`);
  if (found) return;
  await administer(url, `CREATE DATABASE ${templateName}`);
  const templateUrl = String(new URL(templateName, url));
  await (await openPostgres({ url: templateUrl })).close();
  // Without its place the log's epoch is taken over by each copy.
  await administer(templateUrl, "UPDATE log_epoch SET place = ''");
}

/** Runs the statements one after the other, and answers the rows of the last. */
async function administer(url: string, ...statements: readonly string[]): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: pg.QueryResultRow[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** A copy of the prepared cluster; a new one where `npm test` has not prepared any. */
function copyPrepared(place: ClusterPlace): void {
  const prepared = process.env[preparedAt];
  if (prepared === undefined) {
    initialise(place);
    return;
  }
  const copy = ["-R", prepared, join(place.folder, "data")];
  const outcome = spawnSync("cp", copy, { ...place.account, cwd: place.folder, encoding: "utf8" });
  if (outcome.status !== 0) throw new Error(`The prepared cluster can't be copied: ${outcome.stderr}`);
}

function initialise(place: ClusterPlace): void {
  const how = ["-U", "breezeway", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"];
  runPostgresProgram(place, "initdb", ["-D", join(place.folder, "data"), ...how]);
}

/** Runs a program of PostgreSQL's own as the account of the server, and answers what it printed. */
export function runPostgresProgram(place: ClusterPlace, program: string, args: readonly string[]): string {
  const { bin, folder, account } = place;
  const options = { ...account, cwd: folder, env: cleanEnvironment(), encoding: "utf8" } as const;
  const outcome = spawnSync(join(bin, program), args, options);
  if (outcome.status !== 0) throw new Error(`${program} failed: ${outcome.stderr?.trim() || outcome.error?.message}`);
  return outcome.stdout;
}
