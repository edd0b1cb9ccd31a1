import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * From now on this process and those that it starts keep what is temporary in a folder of their own, which goes when it
 * ends: what a test couldn't remove, because it was killed or interrupted, goes with it.
 */
export function useTemporaryFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-tests-"));
  // As everybody's own is: PostgreSQL and nginx run as somebody else, and remove theirs themselves.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  process.on("exit", () => removeWhole(folder));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
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
