import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";

/** The programs of one PostgreSQL installation. */
export interface InstalledPostgres {
  readonly bin: string;
  readonly version: number;
}

/** Breezeway needs 15; older ones count as missing. */
const oldestVersion = 15;

/** The newest PostgreSQL on this machine, or undefined. */
export function installedPostgres(): InstalledPostgres | undefined {
  const found = candidateFolders().flatMap((bin) => {
    const version = versionOf(bin);
    return version !== undefined && version >= oldestVersion ? [{ bin, version }] : [];
  });
  return found.sort((a, b) => b.version - a.version)[0];
}

/** Installs Debian's PostgreSQL where we may; elsewhere throws a sentence that says what to install. */
export function ensurePostgres(): InstalledPostgres {
  return ensureProgram({
    wanted: `PostgreSQL ${oldestVersion} or later`,
    debianPackage: "postgresql",
    isThere: "ls /usr/lib/postgresql/*/bin/initdb",
    otherwise: "Debian: apt-get install postgresql; macOS: brew install postgresql@17",
    find: installedPostgres,
  });
}

/** Why the tests can't have PostgreSQL here; undefined when they can. */
export function missingPostgres(): string | undefined {
  return whyMissing(ensurePostgres);
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
