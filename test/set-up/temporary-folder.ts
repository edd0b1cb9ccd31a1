import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What all tests that run at the same time keep at most, and as much again. */
const enoughBytes = 4 * 2 ** 30;

/**
 * From now on this process and those that it starts keep what is temporary in a folder of their own, which goes when it
 * ends: what a test couldn't remove, because it was killed or interrupted, goes with it.
 */
export function useTemporaryFolder(): void {
  const folder = mkdtempSync(join(memoryFolder() ?? tmpdir(), "breezeway-tests-"));
  // As everybody's own is: PostgreSQL and nginx run as somebody else, and remove theirs themselves.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on("exit", () => removeWhole(folder));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
}

/**
 * Linux's file system in memory, where it has room and runs programs: nothing there waits for a disk. Tests of what
 * survives a power cut don't rely on the disk's own sync.
 */
function memoryFolder(): string | undefined {
  const folder = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < enoughBytes) return undefined;
    const program = join(mkdtempSync(join(folder, "breezeway-try-")), "program");
    try {
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
      return spawnSync(program).status === 0 ? folder : undefined;
    } finally {
      rmSync(dirname(program), { recursive: true, force: true });
    }
  } catch {
    return undefined;
  }
}

/** A server that a test has left behind may still be ending, and what it removes meanwhile ends our removal half-way. */
function removeWhole(folder: string): void {
  for (let attempt = 0; attempt < 50 && existsSync(folder); attempt++) {
    if (attempt > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The next attempt may have more luck.
    }
  }
}
