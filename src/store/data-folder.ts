import { createHash } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Conflict } from "../model/errors.ts";

/** The folder that holds everything one deployment keeps on this machine. */
export interface DataFolder {
  readonly path: string;
  readonly keyFile: string;
  /** Where commands reach the running service. */
  readonly controlSocket: string;
  /**
   * Makes this process the only one on this folder until it releases it or ends, however it ends: the lock is the
   * operating system's, so a killed process leaves none behind. Throws Conflict when another process has it. What
   * keeps more in the folder than the store has a lock of its own name around it.
   */
  lock(name?: string): () => void;
}

/** SQLite's word for a lock that another process holds. */
const busy = 5;

export function dataFolder(given: string): DataFolder {
  const path = resolve(given);
  return {
    path,
    keyFile: join(path, "breezeway.key"),
    controlSocket: socketPath(path),
    lock(name = "breezeway") {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const file = join(path, `${name}.lock`);
      const holder = new DatabaseSync(file, { timeout: 0 });
      try {
        holder.exec("BEGIN EXCLUSIVE");
      } catch (error) {
        holder.close();
        if ((error as { errcode?: unknown }).errcode !== busy) throw error;
        throw new Conflict(`Another Breezeway is running on ${path}. Stop it, or choose another folder.`, {
          cause: error,
        });
      }
      chmodSync(file, 0o600);
      return () => holder.close();
    },
  };
}

/** A socket's path may have about 100 characters; a folder that lies deeper gets one beside the temporary files. */
function socketPath(folder: string): string {
  const name = `breezeway-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\${name}`;
  const inside = join(folder, "control.sock");
  return Buffer.byteLength(inside) <= 100 ? inside : join(tmpdir(), `${name}.sock`);
}
