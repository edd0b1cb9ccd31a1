import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { type Cluster, type ClusterPlace, startCluster } from "./postgres.ts";
import { cleanEnvironment } from "./postgres-server.ts";

/** A hot standby that follows its primary asynchronously, by streaming replication through a proxy. */
export interface Standby {
  readonly cluster: Cluster;
  /** Between the standby and its primary: a closed one cuts the standby off. */
  readonly replication: FaultProxy;
  /** The same database as on the primary. */
  urlOf(primaryUrl: string): string;
  /** Resolves when the standby has replayed all that the primary has written. */
  caughtUp(): Promise<void>;
  /** Makes the standby a primary; resolves when it accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** The primary must be of an installation with `pg_basebackup` (`ensurePostgresWithPrograms`). */
export async function startStandby(
  primary: Cluster,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Standby> {
  const replication = await startFaultProxy(primary.url);
  const prepare = (place: ClusterPlace) => baseBackup(place, replication.url, ["--write-recovery-conf"]);
  const cluster = await startCluster({ isStandby: true, settings, prepare, installation: primary.place });
  return {
    cluster,
    replication,
    urlOf(primaryUrl) {
      const url = new URL(primaryUrl);
      url.port = new URL(cluster.url).port;
      return String(url);
    },
    async caughtUp() {
      const [written] = await ask<{ lsn: string }>(primary.url, "SELECT pg_current_wal_lsn()::text AS lsn");
      const replayed = `SELECT coalesce(pg_last_wal_replay_lsn() >= '${written!.lsn}', false) AS "isDone"`;
      while (!(await ask<{ isDone: boolean }>(cluster.url, replayed))[0]!.isDone);
    },
    async promote() {
      await ask(cluster.url, "SELECT pg_promote(true)");
    },
    async stop() {
      await cluster.stop();
      await replication.stop();
    },
  };
}

/** Copies a running server's data with all the write-ahead log that the copy needs. */
export async function baseBackup(place: ClusterPlace, serverUrl: string, options: readonly string[]): Promise<void> {
  const { bin, folder, account } = place;
  const { hostname, port } = new URL(serverUrl);
  const where = ["-h", hostname, "-p", port, "-U", "breezeway", "-D", join(folder, "data")];
  const how = ["--checkpoint=fast", "--wal-method=stream", "--no-sync", ...options];
  // Not awaited in one turn: the proxy that it goes through runs in this process.
  const copying = spawn(join(bin, "pg_basebackup"), [...where, ...how], {
    ...account,
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  copying.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(copying, "close");
  if (code !== 0) throw new Error(`pg_basebackup failed: ${said.trim()}`);
}

async function ask<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
