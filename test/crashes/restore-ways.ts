import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../cli/run-command.ts";
import { ensurePostgresWithPrograms } from "../set-up/installed-postgres.ts";
import { type Cluster, type ClusterPlace, runPostgresProgram, startCluster } from "../set-up/postgres.ts";
import { baseBackup } from "../set-up/postgres-standby.ts";
import { smallServer } from "./crash-world.ts";

export type Environment = Record<string, string>;

/** A documented method to back up and restore a store (docs/operations.md). */
export interface RestoreWay {
  /** Settings of the service before the backup. */
  readonly environment: Environment;
  /** Called while the service runs. */
  backUp(): Promise<void>;
  /** Called while no service runs; returns the settings of the restored service. */
  restore(): Promise<Environment>;
  remove(): Promise<void>;
}

/** All methods by name; each gets its own folder. */
export const restoreWays: Readonly<Record<string, (folder: string) => Promise<RestoreWay>>> = {
  "a backup of SQLite, restored to a new folder": sqliteBackup,
  "a dump, restored to another database of the same server": (folder) =>
    dump(folder, ({ cluster }) => cluster.createDatabase()),
  "a dump, restored to another server": (folder) =>
    dump(folder, async ({ another }) => (await another()).createDatabase()),
  "a dump, restored over the same database": (folder) =>
    dump(folder, async ({ url }) => url, ["--clean", "--if-exists"]),
  "a base backup, recovered to a new timeline": (folder) => copied(folder, recoverToNewTimeline, []),
  "a base backup, started on its old timeline, with breezeway restored": (folder) =>
    copied(folder, () => undefined, ["restored"]),
};

async function sqliteBackup(folder: string): Promise<RestoreWay> {
  const [data, restored, file] = ["data", "restored", "backup.tar"].map((name) => join(folder, name)) as Three;
  const environment = { BREEZEWAY_DATA: data };
  return {
    environment,
    backUp: () => command(["backup", "--to", file], environment),
    async restore() {
      mkdirSync(restored);
      copyFileSync(join(data, "breezeway.key"), join(restored, "breezeway.key"));
      await command(["restore", "--from", file, "--data", restored], environment);
      return { BREEZEWAY_DATA: restored };
    },
    remove: async () => undefined,
  };
}

interface DumpTarget {
  readonly cluster: Cluster;
  readonly url: string;
  /** Starts a second server. */
  another(): Promise<Cluster>;
}

/** A small server of an installation that has programs for backups. */
const server = () => ({ settings: smallServer, installation: ensurePostgresWithPrograms() });

async function dump(
  folder: string,
  target: (place: DumpTarget) => Promise<string>,
  options: readonly string[] = [],
): Promise<RestoreWay> {
  const cluster = await startCluster(server());
  const clusters = [cluster];
  const another = async () => {
    const second = await startCluster(server());
    clusters.push(second);
    return second;
  };
  const url = await cluster.createDatabase();
  const file = join(cluster.place.folder, "breezeway.dump");
  return {
    environment: { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: url },
    async backUp() {
      runPostgresProgram(cluster.place, "pg_dump", ["--format=custom", `--file=${file}`, url]);
    },
    async restore() {
      const to = await target({ cluster, url, another });
      const how = ["--exit-on-error", "--no-owner", ...options];
      runPostgresProgram(cluster.place, "pg_restore", [...how, `--dbname=${to}`, file]);
      return { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: to };
    },
    remove: () => stopAll(clusters),
  };
}

/** A copy of the server's files, made while it wrote; `after` runs before the service is started. */
async function copied(
  folder: string,
  prepare: (place: ClusterPlace) => void,
  after: readonly string[],
): Promise<RestoreWay> {
  const cluster = await startCluster(server());
  const clusters = [cluster];
  const url = await cluster.createDatabase();
  const base = { ...cluster.place, folder: join(cluster.place.folder, "base") };
  return {
    environment: { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: url },
    async backUp() {
      mkdirSync(base.folder);
      own(base.folder, base);
      await baseBackup(base, cluster.url, []);
    },
    async restore() {
      const fill = (place: ClusterPlace) => {
        const outcome = spawnSync("cp", ["-a", join(base.folder, "data"), place.folder], { ...place.account });
        assert.equal(outcome.status, 0, String(outcome.stderr));
        prepare(place);
      };
      const restored = await startCluster({ ...server(), prepare: fill });
      clusters.push(restored);
      const to = new URL(url);
      to.port = new URL(restored.url).port;
      const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: String(to) };
      if (after.length > 0) await command(after, environment);
      return environment;
    },
    remove: () => stopAll(clusters),
  };
}

/** Recovers as from an archive, up to the end of the backup: the server begins a new timeline. */
function recoverToNewTimeline(place: ClusterPlace): void {
  const data = join(place.folder, "data");
  const settings = ["restore_command = 'false'", "recovery_target = 'immediate'", "recovery_target_action = 'promote'"];
  appendFileSync(join(data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
  writeFileSync(join(data, "recovery.signal"), "");
  own(join(data, "recovery.signal"), place);
}

function own(path: string, { account }: ClusterPlace): void {
  if (account) chownSync(path, account.uid, account.gid);
}

async function command(args: readonly string[], environment: Environment): Promise<void> {
  const { code, stderr } = await runCommand(args, { environment });
  assert.equal(code, 0, stderr);
}

async function stopAll(clusters: readonly Cluster[]): Promise<void> {
  for (const cluster of clusters) await cluster.stop();
}

type Three = [string, string, string];
