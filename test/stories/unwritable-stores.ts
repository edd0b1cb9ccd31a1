import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startFaultProxy } from "../set-up/fault-proxy.ts";
import { ensurePostgresWithPrograms, missingPostgresPrograms } from "../set-up/installed-postgres.ts";
import { sharedCluster, startCluster } from "../set-up/postgres.ts";
import { startStandby } from "../set-up/postgres-standby.ts";
import { canMount, smallDisk } from "../set-up/small-disk.ts";

/** A store that the test can make unwritable while it stays readable. */
export interface UnwritableStore {
  readonly folder: string;
  readonly databaseUrl?: string;
  /** Whether a service cannot even start on it. */
  readonly refusesStart?: boolean;
  stopWrites(): Promise<void>;
  allowWrites(): Promise<void>;
  /** The reason that `/readyz` gives. */
  readonly reason: RegExp;
  remove(): Promise<void>;
}

const missingMount = canMount() ? undefined : "a full disk needs the right to mount one";

/** The ways in which a store becomes unwritable, by name; `missing` says why this machine cannot produce it. */
export const unwritableStores: Readonly<
  Record<string, { readonly prepare: () => Promise<UnwritableStore>; readonly missing?: string | undefined }>
> = {
  "SQLite on a full disk": { prepare: fullSqlite, missing: missingMount },
  "PostgreSQL on a full disk": { prepare: fullPostgres, missing: missingMount },
  "PostgreSQL with default_transaction_read_only": { prepare: readOnlyPostgres },
  "a PostgreSQL that has become a standby": { prepare: standby, missing: missingPostgresPrograms() },
};

async function fullSqlite(): Promise<UnwritableStore> {
  const disk = await smallDisk(16);
  return {
    folder: join(disk.path, "data"),
    stopWrites: async () => disk.fill(),
    allowWrites: async () => disk.empty(),
    reason: /disk is full/,
    remove: () => disk.unmount(),
  };
}

async function fullPostgres(): Promise<UnwritableStore> {
  // A separate server, because its disk is removed in the end.
  const [cluster, disk] = await Promise.all([startCluster(), smallDisk(32)]);
  const databaseUrl = await cluster.createDatabase({ onFolder: disk.path });
  const folder = emptyFolder();
  return {
    folder,
    databaseUrl,
    stopWrites: async () => disk.fill(),
    allowWrites: async () => disk.empty(),
    reason: /No space left on device/,
    async remove() {
      await cluster.stop();
      await disk.unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readOnlyPostgres(): Promise<UnwritableStore> {
  const cluster = await sharedCluster();
  const databaseUrl = await cluster.createDatabase();
  const name = new URL(databaseUrl).pathname.slice(1);
  const administer = async (...statements: readonly string[]) => {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  const folder = emptyFolder();
  return {
    folder,
    databaseUrl,
    refusesStart: true,
    // The setting applies to new sessions only.
    stopWrites: () =>
      administer(
        `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      ),
    // Existing read-only sessions stay open: the service must replace them by itself.
    allowWrites: () => administer(`ALTER DATABASE ${name} RESET default_transaction_read_only`),
    reason: /default_transaction_read_only/,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function standby(): Promise<UnwritableStore> {
  const primary = await startCluster({ installation: ensurePostgresWithPrograms() });
  const onPrimary = await primary.createDatabase();
  const follower = await startStandby(primary);
  const proxy = await startFaultProxy(onPrimary);
  const folder = emptyFolder();
  const databaseUrl = new URL(onPrimary);
  databaseUrl.port = new URL(proxy.url).port;
  return {
    folder,
    databaseUrl: String(databaseUrl),
    refusesStart: true,
    async stopWrites() {
      await follower.caughtUp();
      proxy.turnTo(follower.cluster.url);
      proxy.drop();
    },
    allowWrites: () => follower.promote(),
    reason: /this PostgreSQL is a standby. Name the primary in BREEZEWAY_DATABASE_URL/,
    async remove() {
      await proxy.stop();
      await follower.stop();
      await primary.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), "breezeway-unwritable-"));
}
