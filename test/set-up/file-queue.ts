import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The queue of test files that the shared test processes take from. It is a folder: moving an entry is atomic, so that
 * exactly one process gets each file.
 */
export interface FileQueue {
  /** Takes the next file for this process; undefined when none is left. */
  take(): string | undefined;
  /** Notes that this process has finished the file that it took last. */
  finish(): void;
}

/** The environment variable that passes the folder of the queue to the shared test processes. */
export const queueVariable = "TEST_QUEUE";

/** Makes a queue and returns its folder. */
export function createQueue(files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "queue-"));
  for (const part of ["waiting", "running"]) mkdirSync(join(folder, part));
  for (const [place, file] of files.entries()) {
    writeFileSync(join(folder, "waiting", String(place).padStart(5, "0")), file);
  }
  return folder;
}

export function openQueue(folder: string): FileQueue {
  const waiting = join(folder, "waiting");
  const taken = join(folder, "running", String(process.pid));
  return {
    take() {
      for (const entry of readdirSync(waiting).sort()) {
        try {
          renameSync(join(waiting, entry), taken);
          return readFileSync(taken, "utf8");
        } catch (error) {
          // Another process has taken this entry.
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        }
      }
      return undefined;
    },
    finish: () => rmSync(taken),
  };
}

/** After the run: files that no process took, and files whose process ended before their tests did. */
export function unfinishedFiles(folder: string) {
  const read = (part: string) =>
    readdirSync(join(folder, part)).map((entry) => readFileSync(join(folder, part, entry), "utf8"));
  return { neverStarted: read("waiting"), interrupted: read("running") };
}
