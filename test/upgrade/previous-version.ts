import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

/**
 * What git calls the newest version before the one in this folder: a tag `v…`, or without one the newest commit whose
 * package.json has another version. Undefined if git knows none, as in a shallow clone.
 */
export function findPreviousVersion(root: string): string | undefined {
  const current = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
  const tags = linesOf(root, ["tag", "--list", "v[0-9]*", "--merged", "HEAD", "--sort=-v:refname"]);
  const tag = tags.find((name) => name !== `v${current}`);
  if (tag !== undefined) return tag;
  const changes = linesOf(root, ["log", "--first-parent", "--format=%H", "--", "package.json"]);
  return ["HEAD", ...changes.map((commit) => `${commit}~1`)].find((commit) => {
    const text = linesOf(root, ["show", `${commit}:package.json`]).join("\n");
    return text !== "" && JSON.parse(text).version !== current;
  });
}

/** Writes that version into an empty folder, with its packages. */
export function checkOutVersion(root: string, version: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, "version.tar");
  execFileSync("git", ["archive", "--format=tar", "--output", archive, version], { cwd: root });
  execFileSync("tar", ["-xf", archive], { cwd: folder });
  rmSync(archive);
  // The launcher installs what is missing, and leaves linked packages alone.
  if (isDeepStrictEqual(lockedPackages(folder), lockedPackages(root))) {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  } else execFileSync(process.execPath, [join(folder, "bin/breezeway"), "--version"], { stdio: ["ignore", 2, 2] });
}

/** The packages of the lock file, without the root itself, whose version may differ. */
function lockedPackages(folder: string): object {
  const { "": own, ...packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
  return packages;
}

/** Nothing where git is missing or has no answer. */
function linesOf(root: string, args: readonly string[]): readonly string[] {
  const { stdout, status } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
}
