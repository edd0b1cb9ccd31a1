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
import { type Sealing, sealingWith } from "./sealing.ts";

const keyBytes = 32;

/** Reads the key file, or makes one that only its owner can read. The first key seals, all of them open. */
export function keysFromFile(file: string): readonly [Uint8Array, ...Uint8Array[]] {
  if (!existsSync(file)) makeKeyFile(file);
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

/** Puts these keys in the file's place, whole or not at all. */
export function replaceKeys(file: string, keys: readonly Uint8Array[]): void {
  const draft = writeDraft(file, keys);
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/**
 * Seals and opens with the keys of that file, and looks at it again when it has changed: keys come and go while the
 * service runs. A file that has become unreadable changes nothing, so that no running service loses its links to it.
 */
export function sealingFromFile(file: string): Sealing {
  let sealing = sealingWith(...keysFromFile(file));
  let stamp = stampOf(file);
  const current = (): Sealing => {
    const now = stampOf(file);
    if (now === stamp || now === undefined) return sealing;
    try {
      sealing = sealingWith(...keysFromFile(file));
      stamp = now;
    } catch {
      // Half copied, or not for our eyes yet: the next use looks again.
    }
    return sealing;
  };
  return {
    get keyId() {
      return current().keyId;
    },
    get keyIds() {
      return current().keyIds;
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

/** Written whole and synced before it gets its name: a key lost in a power cut would take all links with it. */
function makeKeyFile(file: string): void {
  keepKeyFile(file, [freshKey()]);
}

/** Makes the key file of those keys; one that somebody else has made meanwhile is left as it is. */
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
