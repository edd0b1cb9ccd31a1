import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { ensurePostgres } from "./installed-postgres.ts";
import { type Account, cleanEnvironment, type Server, startServer } from "./postgres-server.ts";

export { ensurePostgres, installedPostgres, missingPostgres } from "./installed-postgres.ts";

/** A PostgreSQL server of the tests' own, thrown away with all it holds. */
export interface Cluster {
  readonly url: string;
  /** A fresh, empty database; answers its address. */
  createDatabase(options?: { readonly onFolder?: string }): Promise<string>;
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
}

const portAttempts = 3;
const sweepMs = 5_000;

/** What tests may do with a cluster that others use at the same time. */
export type SharedCluster = Pick<Cluster, "url" | "createDatabase" | "place">;

/** Under this name `npm test` hands the address of its cluster to the test processes. */
const handedDown = "BREEZEWAY_TEST_CLUSTER";
/** Every test file of a run has its connections there at once. */
const sharedConnections = 400;

let shared: Promise<SharedCluster> | undefined;

/** The cluster of the whole run; a test file that runs alone starts its own, which ends with the process. */
export function sharedCluster(): Promise<SharedCluster> {
  const address = process.env[handedDown];
  shared ??= address === undefined ? startCluster() : Promise.resolve(clusterAt(JSON.parse(address)));
  return shared;
}

/**
 * Starts the cluster that all test processes of this run share. It syncs nothing to disk: tests of what survives a crash
 * start a cluster of their own. The databases of a test process are dropped after the process has ended.
 */
export async function shareCluster(): Promise<void> {
  const { url, place } = await startCluster({ fsync: false, settings: { max_connections: sharedConnections } });
  process.env[handedDown] = JSON.stringify({ url, place });
  const sweep = async () => {
    await dropLeftDatabases(url).catch(() => undefined);
    setTimeout(sweep, sweepMs).unref();
  };
  setTimeout(sweep, sweepMs).unref();
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { fsync = true, settings, prepare = initialise, isStandby = false } = options;
  const { bin } = ensurePostgres();
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
  return {
    ...clusterAt({ url: `${url}/postgres`, place }),
    crash: () => server.crash(),
    kill: () => server.kill(),
    killForGood: () => server.killForGood(),
    halt: () => server.halt(),
    start: () => server.start(),
    async stop() {
      await server.stop();
      rmSync(place.folder, { recursive: true, force: true });
    },
  };
}

function clusterAt({ url, place }: Pick<Cluster, "url" | "place">): SharedCluster {
  const { account } = place;
  let databases = 0;
  return {
    url,
    async createDatabase({ onFolder } = {}) {
      const name = `test_${process.pid}_${++databases}`;
      if (onFolder === undefined) await administer(url, `CREATE DATABASE ${name}`);
      else {
        const space = join(onFolder, name);
        mkdirSync(space);
        if (account) chownSync(space, account.uid, account.gid);
        const create = `CREATE DATABASE ${name} TABLESPACE ${name}`;
        await administer(url, `CREATE TABLESPACE ${name} LOCATION '${space}'`, create);
      }
      return String(new URL(name, url));
    },
    place,
  };
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

async function dropLeftDatabases(url: string): Promise<void> {
  const rows = await administer(url, "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'");
  const left = rows.map(({ datname }) => String(datname)).filter((name) => !isRunning(Number(name.split("_")[1])));
  await administer(url, ...left.map((name) => `DROP DATABASE ${name} WITH (FORCE)`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL refuses to run as root: then it runs as Debian's postgres, or as nobody where there is none. */
function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = new Map(
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => [line.split(":")[0], line.split(":")]),
  );
  const fields = accounts.get("postgres") ?? accounts.get("nobody");
  if (!fields) throw new Error("PostgreSQL can't run as root, and this machine has no user postgres to run it as.");
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

function initialise(place: ClusterPlace): void {
  const data = join(place.folder, "data");
  const how = ["-U", "breezeway", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"];
  runPostgresProgram(place, "initdb", ["-D", data, ...how]);
}

/** Runs a program of PostgreSQL's own as the account of the server, and answers what it printed. */
export function runPostgresProgram(place: ClusterPlace, program: string, args: readonly string[]): string {
  const { bin, folder, account } = place;
  const options = { ...account, cwd: folder, env: cleanEnvironment(), encoding: "utf8" } as const;
  const outcome = spawnSync(join(bin, program), args, options);
  if (outcome.status !== 0) throw new Error(`${program} failed: ${outcome.stderr?.trim() || outcome.error?.message}`);
  return outcome.stdout;
}
