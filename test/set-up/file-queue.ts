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

/** Under this name `npm test` passes the folder of the queue to the shared test processes. */
const folderVariable = "TEST_QUEUE";

/** Makes the queue; test processes that are started from now on can open it. */
export function createQueue(files: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "queue-"));
  for (const part of ["waiting", "running"]) mkdirSync(join(folder, part));
  for (const [place, file] of files.entries()) {
    writeFileSync(join(folder, "waiting", String(place).padStart(5, "0")), file);
  }
  process.env[folderVariable] = folder;
}

/** Opens the queue of this run in a shared test process. */
export function openQueue(): FileQueue {
  const [waiting, running] = folders();
  const taken = join(running, String(process.pid));
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
export function unfinishedFiles(): {
  readonly neverStarted: readonly string[];
  readonly interrupted: readonly string[];
} {
  const [waiting, running] = folders();
  const read = (folder: string) => readdirSync(folder).map((entry) => readFileSync(join(folder, entry), "utf8"));
  return { neverStarted: read(waiting), interrupted: read(running) };
}

function folders(): readonly [waiting: string, running: string] {
  const folder = process.env[folderVariable];
  if (folder === undefined) throw new Error(`${folderVariable} is not set: start the tests with npm test.`);
  return [join(folder, "waiting"), join(folder, "running")];
}
