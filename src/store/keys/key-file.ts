import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { BreezewayError } from "../../model/errors.ts";
import { type Sealing, sealingWith } from "./sealing.ts";

const keyBytes = 32;

/**
 * Reads the key file, or creates one that only its owner can read. Only for a store without a key: a new key in place of
 * a lost one would hide that sealed values can't be opened any more.
 */
export function keysFromFile(file: string): readonly [Uint8Array, ...Uint8Array[]] {
  if (!existsSync(file)) createKeyFile(file, [newKey()]);
  return readKeyFile(file);
}

/** Reads the key file, and throws when it is missing. The first key seals, all keys open. */
export function readKeyFile(file: string): readonly [Uint8Array, ...Uint8Array[]] {
  if (!existsSync(file)) throw new Error(`There is no key file ${file}.`);
  if (isOpenToOthers(file)) {
    throw new Error(`The key file ${file} can be read by others. Run: chmod 600 ${file}`);
  }
  return keysOf(readFileSync(file, "utf8"), file);
}

/**
 * Only its owner may read the key file. When root owns it and this process is not root, the group may read it too:
 * orchestrators mount secrets into containers this way.
 */
function isOpenToOthers(file: string): boolean {
  if (process.platform === "win32") return false;
  const { mode, uid } = statSync(file);
  return (mode & (uid === 0 && process.getuid?.() !== 0 ? 0o037 : 0o077)) !== 0;
}

/** Parses the text of a key file: one key on each line. */
export function keysOf(text: string, file: string): readonly [Uint8Array, ...Uint8Array[]] {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const [first, ...older] = lines.map((line) => Buffer.from(line, "base64url"));
  if (!first || [first, ...older].some((key) => key.length !== keyBytes)) {
    throw new Error(`The key file ${file} does not hold a key of ${keyBytes} bytes on each line.`);
  }
  return [first, ...older];
}

export function newKey(): Uint8Array {
  return randomBytes(keyBytes);
}

/** Replaces the key file atomically. Throws ReadOnlyKeyFile where the file can't be replaced. */
export function replaceKeys(file: string, keys: readonly Uint8Array[]): void {
  let draft: string | undefined;
  try {
    draft = writeDraft(file, keys);
    renameSync(draft, file);
  } catch (error) {
    if (draft !== undefined) unlinkSync(draft);
    throw isReadOnly(error) ? new ReadOnlyKeyFile(file) : error;
  }
  syncFolder(dirname(file));
}

/** This process may not replace the key file: it is mounted by a container platform, for example. */
export class ReadOnlyKeyFile extends BreezewayError {
  readonly code = "conflict";

  constructor(file: string) {
    super(
      `The key file ${file} can't be changed here: it is read-only, or mounted as a single file. Change it where it is made (docs/operations.md, Key files that are read-only).`,
    );
  }
}

/** EBUSY: a file that is mounted by itself can be written, but not replaced. */
function isReadOnly(error: unknown): boolean {
  return ["EROFS", "EACCES", "EPERM", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/**
 * Seals and opens with the keys of a file, and reads the file again when it has changed: operators rotate keys while the
 * service runs. When the file becomes unreadable, the keys in memory stay in use. With `mayBeMissing` the file may be
 * created later; until then, sealing and opening throw.
 */
export function sealingFromFile(file: string, { mayBeMissing = false } = {}): Sealing {
  let sealing = mayBeMissing && !existsSync(file) ? undefined : sealingWith(...readKeyFile(file));
  let loadedStamp = stampOf(file);
  const currentIfAny = (): Sealing | undefined => {
    const stamp = stampOf(file);
    if (stamp === loadedStamp || stamp === undefined) return sealing;
    try {
      sealing = sealingWith(...readKeyFile(file));
      loadedStamp = stamp;
    } catch {
      // The file is half copied, or its mode isn't set yet. The next use tries again.
    }
    return sealing;
  };
  const current = (): Sealing => {
    const found = currentIfAny();
    if (!found) throw new Error(`There is no key file ${file}.`);
    return found;
  };
  return {
    get keyId() {
      return current().keyId;
    },
    get keyIds() {
      return currentIfAny()?.keyIds ?? [];
    },
    derive: (purpose) => ({
      seal: (text, context) => current().derive(purpose).seal(text, context),
      open: (sealed, context) => current().derive(purpose).open(sealed, context),
    }),
    seal: (text, context) => current().seal(text, context),
    open: (sealed, context) => current().open(sealed, context),
  };
}

/** Changes when the file is replaced or written. Undefined when it is missing, or when its folder can't be searched. */
function stampOf(file: string): string | undefined {
  try {
    const found = statSync(file);
    return `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch {
    return undefined;
  }
}

/**
 * Creates the key file, unless another process has created it meanwhile. The file is complete and synced before it gets
 * its name: without its key, all links would be lost after a power cut.
 */
export function createKeyFile(file: string, keys: readonly Uint8Array[]): void {
  const draft = writeDraft(file, keys);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(file));
}

function writeDraft(file: string, keys: readonly Uint8Array[]): string {
  // A random name: in containers every start has the same process id, and a killed process may have left its draft.
  const draft = `${file}.${randomBytes(6).toString("hex")}.draft`;
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    // writeFileSync writes everything or throws, so that a full disk can't truncate the list of keys.
    writeFileSync(descriptor, keys.map((key) => `${Buffer.from(key).toString("base64url")}\n`).join(""));
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  chmodSync(draft, 0o600);
  return draft;
}

/** Syncs a folder, so that created and renamed files survive a power cut. */
export function syncFolder(path: string): void {
  // Windows can't sync a folder.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
