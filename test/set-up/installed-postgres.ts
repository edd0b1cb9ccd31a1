import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** The programs of one PostgreSQL installation. */
export interface InstalledPostgres {
  readonly bin: string;
  readonly version: number;
}

/** Breezeway needs 15; older ones count as missing. */
const oldestVersion = 15;
const wanted = `PostgreSQL ${oldestVersion} or later`;

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
  const present = installedPostgres();
  if (present) return present;
  if (process.getuid?.() !== 0 || !isDebian()) {
    throw new Error(
      `The tests need ${wanted}: install it (Debian: apt-get install postgresql; macOS: brew install postgresql@17).`,
    );
  }
  process.stderr.write("The tests need PostgreSQL: installing Debian's package postgresql with apt-get.\n");
  // Test files start at once, each in its process: one installs, the others wait for it and find it done.
  const install = `ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
    { apt-get update -q && apt-get install -qy --no-install-recommends postgresql; }`;
  const outcome = spawnSync("flock", [join(tmpdir(), "breezeway-tests-apt.lock"), "sh", "-c", install], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    encoding: "utf8",
  });
  const installed = installedPostgres();
  if (!installed) {
    throw new Error(
      `The tests need ${wanted}, and apt-get install postgresql did not bring it: ${lastLines(outcome.stderr ?? "") || outcome.error?.message}`,
    );
  }
  return installed;
}

/** Why the tests can't have PostgreSQL here; undefined when they can. With CI=true it is an error: nothing is skipped. */
export function missingPostgres(): string | undefined {
  try {
    ensurePostgres();
    return undefined;
  } catch (error) {
    if (process.env.CI === "true" || !(error instanceof Error)) throw error;
    return error.message;
  }
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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isDebian(): boolean {
  const release = "/etc/os-release";
  return existsSync(release) && /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync(release, "utf8"));
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" / ");
}
