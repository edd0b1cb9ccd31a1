import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";
import { embeddedPostgresPrograms } from "./embedded-postgres.ts";
import { hasPostgres } from "./extent.ts";

/** The programs of one PostgreSQL installation. */
export interface InstalledPostgres {
  readonly bin: string;
  readonly version: number;
}

/** Breezeway needs 15; older ones count as missing. */
const oldestVersion = 15;
let chosen: InstalledPostgres | undefined;

/** The PostgreSQL that most tests use: the one of the npm packages, else the newest one of this machine. */
export function ensurePostgres(): InstalledPostgres {
  const bin = embeddedPostgresPrograms();
  chosen ??= bin === undefined ? ensurePostgresWithPrograms() : { bin, version: versionOf(bin)! };
  return chosen;
}

/**
 * The newest PostgreSQL of this machine, with all its client programs. Installs Debian's where we may; elsewhere throws a
 * sentence that says what to install.
 */
export function ensurePostgresWithPrograms(): InstalledPostgres {
  return ensureProgram({
    wanted: `PostgreSQL ${oldestVersion} or later with pg_dump and pg_basebackup`,
    debianPackage: "postgresql",
    isThere: "ls /usr/lib/postgresql/*/bin/initdb",
    otherwise: "Debian: apt-get install postgresql; macOS: brew install postgresql@17",
    find: () => machinesInstallations()[0],
  });
}

/** The oldest PostgreSQL of this machine, when it is older than the one that most tests use. */
export function olderPostgres(): InstalledPostgres | undefined {
  if (!hasPostgres) return undefined;
  return machinesInstallations().findLast(({ version }) => version < ensurePostgres().version);
}

/** Why the tests can't have PostgreSQL here; undefined when they can. */
export function missingPostgres(): string | undefined {
  return hasPostgres ? whyMissing(ensurePostgres) : "npm run check leaves PostgreSQL out";
}

/** Why the tests can't have PostgreSQL's client programs here; undefined when they can. */
export function missingPostgresPrograms(): string | undefined {
  return hasPostgres ? whyMissing(ensurePostgresWithPrograms) : missingPostgres();
}

/** The installations of this machine that have client programs, the newest first. */
function machinesInstallations(): readonly InstalledPostgres[] {
  return candidateFolders()
    .filter((bin) => isExecutable(join(bin, "pg_basebackup")) && isExecutable(join(bin, "pg_dump")))
    .flatMap((bin) => {
      const version = versionOf(bin);
      return version !== undefined && version >= oldestVersion ? [{ bin, version }] : [];
    })
    .sort((a, b) => b.version - a.version);
}

function candidateFolders(): string[] {
  const ofDebian = "/usr/lib/postgresql";
  const versions = existsSync(ofDebian) ? readdirSync(ofDebian) : [];
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...versions.map((version) => join(ofDebian, version, "bin")), ...onPath];
}

/** Other programs are called postgres or psql too: only a folder whose postgres says so counts. */
function versionOf(bin: string): number | undefined {
  const [postgres, initdb] = [join(bin, "postgres"), join(bin, "initdb")];
  if (!isExecutable(postgres) || !isExecutable(initdb)) return undefined;
  const answer = spawnSync(postgres, ["--version"], { encoding: "utf8" });
  const version = /^postgres \(PostgreSQL\) (\d+)/.exec(answer.stdout ?? "")?.[1];
  return version === undefined ? undefined : Number(version);
}
