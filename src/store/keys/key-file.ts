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
 * Reads the key file, or makes one that only its owner can read. Only for a store that has no key yet: a new key in the
 * place of a lost one would hide that what is sealed can't be opened any more.
 */
export function keysFromFile(file: string): readonly [Uint8Array, ...Uint8Array[]] {
  if (!existsSync(file)) keepKeyFile(file, [freshKey()]);
  return readKeyFile(file);
}

/** Reads the key file; throws when there is none. The first key seals, all of them open. */
export function readKeyFile(file: string): readonly [Uint8Array, ...Uint8Array[]] {
  if (!existsSync(file)) throw new Error(`There is no key file ${file}.`);
  if (isOpenToOthers(file)) {
    throw new Error(`The key file ${file} can be read by others. Run: chmod 600 ${file}`);
  }
  return keysOf(readFileSync(file, "utf8"), file);
}

/**
 * Nobody but its owner may read it. Where root owns it and we aren't root, our group may: so a secret is handed to a
 * container.
 */
function isOpenToOthers(file: string): boolean {
  if (process.platform === "win32") return false;
  const { mode, uid } = statSync(file);
  return (mode & (uid === 0 && process.getuid?.() !== 0 ? 0o037 : 0o077)) !== 0;
}

/** The keys that stand in a key file's text, one a line. */
export function keysOf(text: string, file: string): readonly [Uint8Array, ...Uint8Array[]] {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const [first, ...older] = lines.map((line) => Buffer.from(line, "base64url"));
  if (!first || [first, ...older].some((key) => key.length !== keyBytes)) {
    throw new Error(`The key file ${file} does not hold a key of ${keyBytes} bytes on each line.`);
  }
  return [first, ...older];
}

export function freshKey(): Uint8Array {
  return randomBytes(keyBytes);
}

/** Puts these keys in the file's place, whole or not at all. Throws ReadOnlyKeyFile where the file can't be replaced. */
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

/** The key file lies where this process may not replace it: a secret that a cluster mounts, for example. */
export class ReadOnlyKeyFile extends BreezewayError {
  readonly code = "conflict";

  constructor(file: string) {
    super(
      `The key file ${file} can't be changed here: it is read-only, or mounted as a single file. Change it where it is made (docs/operations.md, Key files that are read-only).`,
    );
  }
}

/** EBUSY: a file that is mounted by itself can be written, but nothing can take its place. */
function isReadOnly(error: unknown): boolean {
  return ["EROFS", "EACCES", "EPERM", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/**
 * Seals and opens with the keys of that file, and reads it again when it has changed: keys come and go while the service
 * runs. A file that has become unreadable changes nothing, so that no running service loses its links to it. With
 * `mayBeMissing` the file may come later; until then nothing can be sealed or opened.
 */
export function sealingFromFile(file: string, { mayBeMissing = false } = {}): Sealing {
  let sealing = mayBeMissing && !existsSync(file) ? undefined : sealingWith(...readKeyFile(file));
  let stamp = stampOf(file);
  const found = (): Sealing | undefined => {
    const now = stampOf(file);
    if (now === stamp || now === undefined) return sealing;
    try {
      sealing = sealingWith(...readKeyFile(file));
      stamp = now;
    } catch {
      // Half copied, or its mode isn't set yet: the next use looks again.
    }
    return sealing;
  };
  const current = (): Sealing => {
    const keys = found();
    if (!keys) throw new Error(`There is no key file ${file}.`);
    return keys;
  };
  return {
    get keyId() {
      return current().keyId;
    },
    get keyIds() {
      return found()?.keyIds ?? [];
    },
    derive: (purpose) => ({
      seal: (text, place) => current().derive(purpose).seal(text, place),
      open: (sealed, place) => current().derive(purpose).open(sealed, place),
    }),
    seal: (text, place) => current().seal(text, place),
    open: (sealed, place) => current().open(sealed, place),
  };
}

function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/**
 * Makes the key file of those keys; one that another process has made meanwhile is left as it is. It is written whole
 * and synced before it gets its name: a key lost in a power cut would take all links with it.
 */
export function keepKeyFile(file: string, keys: readonly Uint8Array[]): void {
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
  // A name of its own: in a container every start has the same process id, and a killed one may have left its draft.
  const draft = `${file}.${randomBytes(6).toString("hex")}.draft`;
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    // Writes to the end or throws: a file that lost a key to a full disk must not take the place of a whole one.
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

/** What was renamed or made there stays so after a power cut. */
export function syncFolder(path: string): void {
  // Windows has no such thing as syncing a folder.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
