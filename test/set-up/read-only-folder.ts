import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { canMount, smallDisk } from "./small-disk.ts";

/** A folder that the tests can make read-only for this process and writable again. */
export interface ReadOnlyFolder {
  readonly path: string;
  setReadOnly(isReadOnly: boolean): void;
}

/** Root may write to any folder, so that it takes a mounted file system; undefined where root can't mount one. */
export async function readOnlyFolder(t: TestContext): Promise<ReadOnlyFolder | undefined> {
  if (process.getuid?.() !== 0) {
    const path = mkdtempSync(join(tmpdir(), "breezeway-read-only-"));
    const setReadOnly = (isReadOnly: boolean) => chmodSync(path, isReadOnly ? 0o500 : 0o700);
    t.after(() => {
      setReadOnly(false);
      rmSync(path, { recursive: true, force: true });
    });
    return { path, setReadOnly };
  }
  if (!canMount()) return undefined;
  const disk = await smallDisk(8);
  t.after(() => disk.unmount());
  return {
    path: disk.path,
    setReadOnly(isReadOnly) {
      const { status, stderr } = spawnSync("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, disk.path]);
      if (status !== 0) throw new Error(`the folder could not be remounted: ${stderr}`);
    },
  };
}
