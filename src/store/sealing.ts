import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** Keeps ecosystem tokens unreadable in the store: AES-256-GCM, each bound to the place it was sealed for. */
export interface Sealing {
  /** Names the key without telling it, so that a wrong one is noticed before it is needed. */
  readonly keyId: string;
  seal(text: string, place: string): string;
  /** Throws when the text was sealed with another key, for another place, or was touched. */
  open(sealed: string, place: string): string;
}

const keyBytes = 32;
const format = "v1";

export function sealingWith(key: Uint8Array): Sealing {
  const keyId = createHash("sha256").update("breezeway key id").update(key).digest("base64url").slice(0, 12);
  return {
    keyId,
    seal(text, place) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [format, keyId, iv.toString("base64url"), sealed.toString("base64url")].join(".");
    },
    open(sealed, place) {
      const [version, sealedBy, iv, body] = sealed.split(".");
      if (version !== format || !iv || !body) throw new Error("a sealed value has an unknown form");
      if (sealedBy !== keyId) throw new Error(`a value was sealed with key ${sealedBy}, this process has ${keyId}`);
      const bytes = Buffer.from(body, "base64url");
      // Node passes over what isn't base64url: one sealed value has one spelling.
      if (bytes.toString("base64url") !== body) throw new Error("a sealed value was touched");
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(iv, "base64url")).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** Reads the key file, or makes one that only its owner can read. */
export function keyFromFile(file: string): Uint8Array {
  if (!existsSync(file)) makeKeyFile(file);
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
    throw new Error(`The key file ${file} can be read by others. Run: chmod 600 ${file}`);
  }
  const key = Buffer.from(readFileSync(file, "utf8").trim(), "base64url");
  if (key.length !== keyBytes) throw new Error(`The key file ${file} does not hold a key of ${keyBytes} bytes.`);
  return key;
}

/** Written whole and synced before it gets its name: a key lost in a power cut would take all links with it. */
function makeKeyFile(file: string): void {
  // A name of its own: in a container every start has the same process id, and a killed one may have left its draft.
  const draft = `${file}.${randomBytes(6).toString("hex")}.draft`;
  const descriptor = openSync(draft, "wx", 0o600);
  writeSync(descriptor, `${randomBytes(keyBytes).toString("base64url")}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  // Windows has no such thing as syncing a folder.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
}
