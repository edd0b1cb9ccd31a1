import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Conflict, StoreUnavailable } from "../../model/errors.ts";

/** Windows has no POSIX owners and modes. A user's folders are private there by default. */
const hasOwnersAndModes = process.platform !== "win32";
const groupAndOthers = 0o077;
const sticky = 0o1000;

/** The effective user id of this process. */
export function ownUid(): number {
  return process.geteuid?.() ?? 0;
}

/**
 * Creates the data folder, or closes an existing one to other users: the folder gets mode 0700, Breezeway's files in it
 * 0600. Refuses a folder of another user and a folder with the sticky bit, which all users share. Warns where modes
 * can't be changed.
 */
export function makePrivateFolder(path: string, warn: (sentence: string) => void): void {
  makeFolder(path);
  if (!hasOwnersAndModes) return;
  const { uid, mode } = statSync(path);
  if ((mode & sticky) !== 0) {
    throw new Conflict(`The data folder ${path} is shared by all users of this machine. Choose a folder of its own.`);
  }
  if (uid !== ownUid()) {
    // A container's volume may belong to root. Only root could change its modes.
    if (uid !== 0) throw belongsToAnother(path, uid);
    if ((mode & 0o007) !== 0) warn(`The data folder ${path} belongs to root and is open to all users. ${advice(path)}`);
    return;
  }
  tighten(path, mode, 0o700, warn);
  for (const name of readdirSync(path)) {
    // Not the key file: a key that other users could read is refused at start, so that the operator replaces it.
    if (!/^(breezeway\.(db|lock)|demo[.-]|simulator\.json)/.test(name)) continue;
    const file = join(path, name);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && found.uid === ownUid()) tighten(file, found.mode, 0o600, warn);
  }
}

/** Creates the folder if it is missing. Throws UnwritableFolder when that fails. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UnwritableFolder(path, error);
  }
}

/**
 * Creates a database file if it is missing, for SQLite to open. SQLite itself would create it with mode 0644, and gives
 * its journals the mode that the file has at that moment.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch {
    // It exists, or SQLite reports why it can't be created.
  }
}

/** Throws UnwritableFolder unless this process can create files in the folder. */
export function checkWritable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UnwritableFolder(path, error);
  }
}

/** This process can't write to the data folder. */
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
  const found = nearestExisting(path);
  const owned = hasOwnersAndModes
    ? `; ${found.path} belongs to uid ${found.stats.uid} with mode ${(found.stats.mode & 0o777).toString(8)}, this process runs as uid ${ownUid()}`
    : "";
  switch (code) {
    case "EROFS":
    // Node's recursive mkdir gives this code on a read-only file system.
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

/** The folder itself, or its nearest parent that exists. */
function nearestExisting(path: string): { readonly path: string; readonly stats: Stats } {
  for (let folder = path; ; folder = dirname(folder)) {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats || folder === dirname(folder)) return { path: folder, stats: stats ?? statSync(folder) };
  }
}

/** Creates a folder for sockets below a folder that all users share. Refuses one that another user has created. */
export function makeSocketFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  checkSocketFolder(path, ownUid());
}

/**
 * Refuses a folder in which another user could have created the socket: commands carry passwords. A missing folder is
 * fine, since it holds no socket.
 */
export function checkSocketFolder(path: string, owner: number): void {
  const found: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  if (!found || !hasOwnersAndModes) return;
  const problem = !found.isDirectory()
    ? "is not a folder"
    : found.uid !== owner
      ? `belongs to another user (uid ${found.uid})`
      : (found.mode & groupAndOthers) !== 0
        ? "is open to other users"
        : undefined;
  if (!problem) return;
  throw new Conflict(
    `The folder for the control socket, ${path}, ${problem}. Remove it, or choose a data folder with a shorter path: then the socket lies in the data folder.`,
  );
}

/** Refuses a data folder in which another user could have created the control socket. Root may use any folder. */
export function checkDataFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || !hasOwnersAndModes || ownUid() === 0) return;
  if (found.uid !== ownUid() && found.uid !== 0) throw belongsToAnother(path, found.uid);
  if (found.uid === ownUid() && (found.mode & 0o022) !== 0) {
    throw new Conflict(`Other users can write to the data folder ${path}. ${advice(path)}`);
  }
}

function tighten(path: string, mode: number, wanted: number, warn: (sentence: string) => void): void {
  if ((mode & groupAndOthers) === 0) return;
  try {
    chmodSync(path, wanted);
    if ((statSync(path).mode & groupAndOthers) === 0) return;
  } catch {
    // A read-only file system, or one without modes: the warning below reports it.
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
