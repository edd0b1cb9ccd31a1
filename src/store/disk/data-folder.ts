import { createHash } from "node:crypto";
import { chmodSync, existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Conflict } from "../../model/errors.ts";
import { isSqliteFailure, unavailable } from "../sqlite/errors.ts";
import {
  checkDataFolder,
  checkSocketFolder,
  checkWritable,
  makeFolder,
  makePrivateFile,
  makePrivateFolder,
  makeSocketFolder,
  ownUid,
} from "./private-folder.ts";

/** The folder that holds everything one deployment keeps on this machine. */
export interface DataFolder {
  readonly path: string;
  readonly keyFile: string;
  /** The socket on which the running service accepts commands. Its folder is checked by the two methods below. */
  readonly controlSocket: string;
  /** Creates the folder, open to its owner alone. Throws Conflict when it belongs to another user. */
  make(warn: (sentence: string) => void): void;
  /** For the service: creates the socket's folder, closed to other users, and returns the socket's path. */
  prepareSocket(): string;
  /** For a command: the socket's path. Throws Conflict when another user could have created the socket. */
  trustedSocket(): string;
  /**
   * Locks the folder for this process and returns the function that unlocks it. The operating system releases the lock
   * when the process ends, also when it is killed. Throws FolderInUse when another process has the lock. `name` selects
   * another lock than the store's, for files beside the store.
   */
  lock(name?: string): () => void;
  /** Whether another process has the lock of the store: a service, or a command that opened the store itself. */
  isInUse(): boolean;
}

/** Another process holds the folder's lock. */
export class FolderInUse extends Conflict {}

/** SQLite's code for a lock that another process holds. */
const busy = 5;
/** `isInUse` takes the lock for a moment. A service that starts at that moment waits this long, and does not fail. */
const lockWaitMs = 100;

export function dataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  return {
    path,
    keyFile: join(path, "breezeway.key"),
    controlSocket: socketPath(path),
    make: (warn) => makePrivateFolder(path, warn),
    prepareSocket() {
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
          throw isSqliteFailure(error) ? unavailable(error, file) : error;
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
        // Other errors are reported when the folder is opened.
        return error instanceof FolderInUse;
      }
    },
  };
}

function openLock(file: string): DatabaseSync {
  makePrivateFile(file);
  try {
    return new DatabaseSync(file, { timeout: lockWaitMs });
  } catch (error) {
    throw isSqliteFailure(error) ? unavailable(error, file) : error;
  }
}

/**
 * The path of a Unix socket is limited to about 100 characters. For a longer data folder the socket is in a folder below
 * the system's temporary folder, which is named after the data folder's owner and open to that user alone.
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

/** The user of the service. Root may run a command for it: the command and the service must find the same folder. */
function ownerOf(folder: string): number {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? ownUid();
  // A container's volume may belong to root while the service runs as another user.
  return owner === 0 ? ownUid() : owner;
}
