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
  /** Shuts it down, until it is started again. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Off only where nothing is said about what survives. */
  readonly fsync?: boolean;
}

const portAttempts = 3;

let shared: Promise<Cluster> | undefined;

/** The one cluster of this test process, started when first asked for; it ends with the process. */
export function sharedCluster(): Promise<Cluster> {
  shared ??= startCluster();
  return shared;
}

export async function startCluster({ fsync = true }: ClusterOptions = {}): Promise<Cluster> {
  const { bin } = ensurePostgres();
  const account = serverAccount();
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-postgres-"));
    try {
      if (account) chownSync(folder, account.uid, account.gid);
      initialise(bin, folder, account);
      const port = await freePort();
      const server = await startServer({ bin, folder, account, port, fsync });
      return clusterOn(server, `postgres://breezeway@127.0.0.1:${port}`, folder, account);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      // Somebody may have taken the port meanwhile.
      if (attempt === portAttempts || !String(error).includes("could not bind")) throw error;
    }
  }
}

function clusterOn(server: Server, url: string, folder: string, account: Account | undefined): Cluster {
  let databases = 0;
  const administer = async (...statements: readonly string[]) => {
    const client = new pg.Client({ connectionString: `${url}/postgres` });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  return {
    url: `${url}/postgres`,
    async createDatabase({ onFolder } = {}) {
      const name = `test_${++databases}`;
      if (onFolder === undefined) await administer(`CREATE DATABASE ${name}`);
      else {
        const place = join(onFolder, name);
        mkdirSync(place);
        if (account) chownSync(place, account.uid, account.gid);
        await administer(`CREATE TABLESPACE ${name} LOCATION '${place}'`, `CREATE DATABASE ${name} TABLESPACE ${name}`);
      }
      return `${url}/${name}`;
    },
    crash: () => server.crash(),
    halt: () => server.halt(),
    start: () => server.start(),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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

function initialise(bin: string, folder: string, account: Account | undefined): void {
  const outcome = spawnSync(
    join(bin, "initdb"),
    ["-D", join(folder, "data"), "-U", "breezeway", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"],
    { ...account, cwd: folder, env: cleanEnvironment(), encoding: "utf8" },
  );
  if (outcome.status !== 0) throw new Error(`initdb failed: ${outcome.stderr?.trim() || outcome.error?.message}`);
}
