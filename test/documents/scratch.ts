import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

const root = new URL("../../", import.meta.url).pathname;

/**
 * A copy of the repository as after a clone, with the packages that are installed here. Folders that blocks make beside
 * it are removed with it.
 */
export function clonedFolder(t: TestContext): string {
  const desk = mkdtempSync(join(tmpdir(), "breezeway-documents-"));
  t.after(() => rmSync(desk, { recursive: true, force: true }));
  const folder = join(desk, "breezeway");
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of listed.toString().split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { force: true, errorOnExist: false });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}
