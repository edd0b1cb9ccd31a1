import { accessSync, chmodSync, constants, lstatSync, mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Conflict, StoreUnavailable } from "../../model/errors.ts";

/** Windows has neither: its folders are the user's own by default. */
const hasOwnersAndModes = process.platform !== "win32";
const others = 0o077;
const sticky = 0o1000;

/** The user that this process acts as. */
export function ownUid(): number {
  return process.geteuid?.() ?? 0;
}

/**
 * Makes the data folder, or takes away what other users may do with one that is there: the folder becomes 0700, our
 * files in it 0600. A folder of another user, or one that everybody shares, is refused. Warns where modes can't be
 * changed.
 */
export function makePrivateFolder(path: string, warn: (sentence: string) => void): void {
  makeFolder(path);
  if (!hasOwnersAndModes) return;
  const { uid, mode } = statSync(path);
  if ((mode & sticky) !== 0) {
    throw new Conflict(`The data folder ${path} is shared by all users of this machine. Choose a folder of its own.`);
  }
  if (uid !== ownUid()) {
    // Root hands volumes to containers this way. Only root could change the modes.
    if (uid !== 0) throw belongsToAnother(path, uid);
    if ((mode & 0o007) !== 0) warn(`The data folder ${path} belongs to root and is open to all users. ${advice(path)}`);
    return;
  }
  tighten(path, mode, 0o700, warn);
  for (const name of readdirSync(path)) {
    // The key file is not among them: one that others could read is refused, so that the operator replaces the key.
    if (!/^(breezeway\.(db|lock)|demo[.-]|simulator\.json)/.test(name)) continue;
    const file = join(path, name);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && found.uid === ownUid()) tighten(file, found.mode, 0o600, warn);
  }
}

/** Makes the folder where it is missing. Throws UnwritableFolder when that is not possible. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UnwritableFolder(path, error);
  }
}

/** Throws UnwritableFolder unless this process can make files in the folder. */
export function checkWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UnwritableFolder(path, error);
  }
}

/** The store can't be kept in the folder: another file system or another owner is needed. */
export class UnwritableFolder extends StoreUnavailable {
  constructor(path: string, cause: unknown) {
    super(
      `The data folder ${path} can't be written: ${whyUnwritable(path, cause)}. Breezeway keeps its store there. Make it writable, or choose another folder with --data (BREEZEWAY_DATA).`,
      { cause },
    );
  }
}

function whyUnwritable(path: string, cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  const found = nearest(path);
  const owned = hasOwnersAndModes
    ? `; ${found.path} belongs to uid ${found.stats.uid} with mode ${(found.stats.mode & 0o777).toString(8)}, this process runs as uid ${ownUid()}`
    : "";
  switch (code) {
    case "EROFS":
    // Node's recursive mkdir says this on a read-only file system.
    case "ENOENT":
      return "the file system is mounted read-only";
    case "EACCES":
    case "EPERM":
      return `this user has no permission${owned}`;
    case "ENOTDIR":
    case "EEXIST":
      return "a file is in its place";
    default:
      return message;
  }
}

/** The folder itself, or the innermost one above it that is there. */
function nearest(path: string): { readonly path: string; readonly stats: Stats } {
  for (let at = path; ; at = dirname(at)) {
    const stats = statSync(at, { throwIfNoEntry: false });
    if (stats || at === dirname(at)) return { path: at, stats: stats ?? statSync(at) };
  }
}

/** A folder for sockets, made in a place that all users share. A folder that somebody else has made is refused. */
export function makeSocketFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  checkSocketFolder(path, ownUid());
}

/**
 * Refuses a folder in which another user could have put a socket of their own: commands carry passwords. A folder that
 * isn't there holds no socket.
 */
export function checkSocketFolder(path: string, owner: number): void {
  const found: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  if (!found || !hasOwnersAndModes) return;
  const problem = !found.isDirectory()
    ? "is no folder"
    : found.uid !== owner
      ? `belongs to another user (uid ${found.uid})`
      : (found.mode & others) !== 0
        ? "is open to other users"
        : undefined;
  if (!problem) return;
  throw new Conflict(
    `The folder for the control socket, ${path}, ${problem}. Remove it, or choose a data folder with a shorter path: then the socket lies in the data folder.`,
  );
}

/** Refuses a data folder whose control socket may be another user's. Root may reach the service of any user. */
export function checkDataFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || !hasOwnersAndModes || ownUid() === 0) return;
  if (found.uid !== ownUid() && found.uid !== 0) throw belongsToAnother(path, found.uid);
  if (found.uid === ownUid() && (found.mode & 0o022) !== 0) {
    throw new Conflict(`Other users can write to the data folder ${path}. ${advice(path)}`);
  }
}

function tighten(path: string, mode: number, wanted: number, warn: (sentence: string) => void): void {
  if ((mode & others) === 0) return;
  try {
    chmodSync(path, wanted);
    if ((statSync(path).mode & others) === 0) return;
  } catch {
    // A read-only file system, or one without modes: the warning says it.
  }
  warn(`Other users of this machine can reach ${path}, and its mode could not be changed. ${advice(path)}`);
}

function advice(path: string): string {
  return `Run: chmod go= ${path}`;
}

function belongsToAnother(path: string, uid: number): Conflict {
  return new Conflict(
    `The data folder ${path} belongs to another user (uid ${uid}; this process runs as uid ${ownUid()}). Run Breezeway as that user, or choose another folder.`,
  );
}
