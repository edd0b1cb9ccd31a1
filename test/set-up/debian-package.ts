import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";

/** Something that the tests need and Debian has. */
export interface NeededProgram<Found> {
  /** As it stands in a sentence. */
  readonly wanted: string;
  readonly debianPackage: string;
  /** A shell's word for whether it is there. */
  readonly isThere: string;
  /** How it is brought, where installing the package does too much. */
  readonly install?: string;
  /** How to come by it elsewhere. */
  readonly otherwise: string;
  readonly find: () => Found | undefined;
}

/** Debian's own folder for its packages. Test processes lock it in turns; apt-get itself locks files in it. */
const packagesFolder = "/var/lib/dpkg";

/** A shell's word for whether the lists of Debian's packages are less than an hour old. */
const areListsFresh = `test -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mmin -60 2>/dev/null)"`;

/** Finds it, or installs Debian's package where we may; elsewhere throws a sentence that says what to install. */
export function ensureProgram<Found>(program: NeededProgram<Found>): Found {
  const { wanted, debianPackage, isThere, otherwise, find } = program;
  const { install = `apt-get install -qy --no-install-recommends ${debianPackage}` } = program;
  const present = find();
  if (present) return present;
  if (process.getuid?.() !== 0 || !isDebian()) throw new Error(`The tests need ${wanted}: install it (${otherwise}).`);
  process.stderr.write(`The tests need ${wanted}: fetching Debian's package ${debianPackage} with apt-get.\n`);
  // Test files start at once, each in its process: one installs, the others wait for it and find it done.
  const unlessDone = `${isThere} >/dev/null 2>&1 || { { ${areListsFresh} || apt-get update -q; } && ${install}; }`;
  const outcome = spawnSync("flock", [packagesFolder, "sh", "-c", unlessDone], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    encoding: "utf8",
  });
  const installed = find();
  if (installed) return installed;
  const reason = lastLines(outcome.stderr ?? "") || outcome.error?.message;
  throw new Error(`The tests need ${wanted}, and Debian's package ${debianPackage} did not bring it: ${reason}`);
}

/** Why the tests can't have it here; undefined when they can. With CI=true it is an error: nothing is skipped. */
export function whyMissing(ensure: () => unknown): string | undefined {
  try {
    ensure();
    return undefined;
  } catch (error) {
    if (process.env.CI === "true" || !(error instanceof Error)) throw error;
    return error.message;
  }
}

export function isExecutable(file: string): boolean {
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
  return text.trim().split("\n").slice(-3).join(" ");
}
