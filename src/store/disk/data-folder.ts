import { createHash } from "node:crypto";
import { chmodSync, existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Conflict } from "../../model/errors.ts";
import { isTrouble, unavailable } from "../sqlite/errors.ts";
import {
  checkDataFolder,
  checkSocketFolder,
  checkWritable,
  makeFolder,
  makePrivateFolder,
  makeSocketFolder,
  ownUid,
} from "./private-folder.ts";

/** The folder that holds everything one deployment keeps on this machine. */
export interface DataFolder {
  readonly path: string;
  readonly keyFile: string;
  /** Where commands reach the running service. The folder that it lies in is checked by the two methods below. */
  readonly controlSocket: string;
  /** Makes sure that the folder is there and open to its owner alone. Throws Conflict when it is another user's. */
  make(warn: (sentence: string) => void): void;
  /** For the service: the socket's path, in a folder that no other user can write to. */
  placeForSocket(): string;
  /** For a command: the socket's path, when no other user could have put a socket there. Throws Conflict otherwise. */
  trustedSocket(): string;
  /**
   * Makes this process the only one on this folder until it releases it or ends, however it ends: the lock is the
   * operating system's, so a killed process leaves none behind. Throws FolderInUse when another process has it. What
   * keeps more in the folder than the store has a lock of its own name around it.
   */
  lock(name?: string): () => void;
  /** Whether another process has the lock of the store: a service, or a command that opened the store itself. */
  isInUse(): boolean;
}

/** Another process has the folder's lock. */
export class FolderInUse extends Conflict {}

/** SQLite's word for a lock that another process holds. */
const busy = 5;
/** `isInUse` holds the lock for a moment to find out: that must not keep a service from starting. */
const momentMs = 100;

export function dataFolder(given: string): DataFolder {
  const path = resolve(given);
  return {
    path,
    keyFile: join(path, "breezeway.key"),
    controlSocket: socketPath(path),
    make: (warn) => makePrivateFolder(path, warn),
    placeForSocket() {
      const socket = socketPath(path);
      if (isBeside(socket, path)) makeSocketFolder(dirname(socket));
      return socket;
    },
    trustedSocket() {
      const socket = socketPath(path);
      checkDataFolder(path);
      if (isBeside(socket, path)) checkSocketFolder(dirname(socket), ownerOf(path));
      return socket;
    },
    lock(name = "breezeway") {
      makeFolder(path);
      checkWritable(path);
      const file = join(path, `${name}.lock`);
      const holder = openLock(file);
      try {
        holder.exec("BEGIN EXCLUSIVE");
      } catch (error) {
        holder.close();
        if ((error as { errcode?: unknown }).errcode !== busy)
          throw isTrouble(error) ? unavailable(error, file) : error;
        throw new FolderInUse(`Another Breezeway is running on ${path}. Stop it, or choose another folder.`, {
          cause: error,
        });
      }
      chmodSync(file, 0o600);
      return () => holder.close();
    },
    isInUse() {
      if (!existsSync(join(path, "breezeway.lock"))) return false;
      try {
        this.lock()();
        return false;
      } catch (error) {
        // What else is wrong with the folder shows when it is opened.
        return error instanceof FolderInUse;
      }
    },
  };
}

function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: momentMs });
  } catch (error) {
    throw isTrouble(error) ? unavailable(error, file) : error;
  }
}

/**
 * A socket's path may have about 100 characters. A data folder that lies deeper has its socket in a folder among the
 * temporary files, which is named after the data folder's owner and open to that user alone.
 */
function socketPath(folder: string): string {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  if (process.platform === "win32") return `\\\\.\\pipe\\breezeway-${name}`;
  const inside = join(folder, "control.sock");
  return Buffer.byteLength(inside) <= 100 ? inside : join(tmpdir(), `breezeway-${ownerOf(folder)}`, `${name}.sock`);
}

function isBeside(socket: string, folder: string): boolean {
  return process.platform !== "win32" && dirname(socket) !== folder;
}

/** Root may run a command for the service of another user: both look in the folder of the service's user. */
function ownerOf(folder: string): number {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? ownUid();
  // A volume that root handed to a container: the service there runs as another user.
  return owner === 0 ? ownUid() : owner;
}
