import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const noted = "src/runtime/process/commit";

/**
 * The short hash of the commit in this folder: of a checkout, else the one that `git archive` or deploy/Dockerfile
 * noted, else "unknown". Reads git's files itself, because a start must not wait for git or need it.
 */
export function readCommit(root: string): string {
  const hash = readHead(root) ?? readLine(join(root, noted)) ?? "";
  return /^[0-9a-f]{40,64}$/.test(hash) ? hash.slice(0, 8) : "unknown";
}

function readHead(root: string): string | undefined {
  // In a worktree `.git` is a file that names the folder, and the branches are in the folder of the first checkout.
  const link = readLine(join(root, ".git"));
  const own = resolve(root, link?.replace("gitdir: ", "") ?? ".git");
  const shared = resolve(own, readLine(join(own, "commondir")) ?? ".");
  const head = readLine(join(own, "HEAD"));
  const ref = head?.startsWith("ref: ") ? head.slice(5) : undefined;
  if (ref === undefined) return head;
  return readLine(join(own, ref)) ?? readLine(join(shared, ref)) ?? findPacked(shared, ref);
}

function findPacked(shared: string, ref: string): string | undefined {
  const lines = readText(join(shared, "packed-refs"))?.split("\n");
  return lines?.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0];
}

function readLine(path: string): string | undefined {
  return readText(path)?.trim();
}

/** Undefined if it can't be read, for whatever reason. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
