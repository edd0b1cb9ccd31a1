import { join } from "node:path";
import type { Build } from "../../model/build.ts";
import { Conflict } from "../../model/errors.ts";
import { databaseName } from "./manifest.ts";
import { type TakenBackup, takeBackup } from "./take.ts";

export interface BackupsParts {
  readonly folder: string;
  readonly keyFile: string;
  readonly build: Build;
  readonly nowMs: () => number;
}

/** Takes backups of the running process's store, one at a time. */
export class Backups {
  readonly #parts: BackupsParts;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(parts: BackupsParts) {
    this.#parts = parts;
  }

  async take(to: string, withKey: boolean, onProgress: (done: number, total: number) => void): Promise<TakenBackup> {
    if (this.#running) throw new Conflict("A backup is being taken already. Wait until it is done.");
    const { folder, keyFile, build, nowMs } = this.#parts;
    const taking = takeBackup({
      database: join(folder, databaseName),
      to,
      keyFile: withKey ? keyFile : undefined,
      build,
      nowMs: nowMs(),
      onProgress,
      signal: this.#stopping.signal,
    });
    this.#running = taking.catch(() => undefined);
    try {
      return await taking;
    } finally {
      this.#running = undefined;
    }
  }

  /** Aborts a backup that is not done. An older backup of the same name stays. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Conflict("The service stopped before the backup was done. Nothing was replaced."));
    await this.#running;
  }
}
