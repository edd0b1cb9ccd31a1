import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/**
 * Seals values: AES-256-GCM, each bound to the place it was sealed for. The keys themselves seal what lies in the store;
 * every other purpose has subkeys of its own (`derive`).
 */
export interface Sealing extends Sealer {
  /** Names the key that seals without telling it, so that a wrong one is noticed before it is needed. */
  readonly keyId: string;
  /** The names of all keys that open. */
  readonly keyIds: readonly string[];
  /** Seals with a subkey of each key that serves this purpose alone. */
  derive(purpose: string): Sealer;
}

export interface Sealer {
  seal(text: string, place: string): string;
  /** Throws when the text was sealed with another key, for another place, or was touched. */
  open(sealed: string, place: string): string;
}

const format = "v1";
const idLetters = 12;

/** The first key seals; older ones open what they sealed until it has been sealed anew. */
export function sealingWith(key: Uint8Array, ...older: readonly Uint8Array[]): Sealing {
  const keyId = keyIdOf(key);
  const ring = new Map([key, ...older].map((one) => [keyIdOf(one), one]));
  /** Purposes are few and named in our code. */
  const derived = new Map<string, Sealer>();
  return {
    keyId,
    keyIds: [...ring.keys()],
    derive(purpose) {
      const known = derived.get(purpose);
      if (known) return known;
      const subkeys = older.map((one) => subkeyOf(one, purpose));
      const made = sealingWith(subkeyOf(key, purpose), ...subkeys);
      derived.set(purpose, made);
      return made;
    },
    seal(text, place) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [format, keyId, iv.toString("base64url"), sealed.toString("base64url")].join(".");
    },
    open(sealed, place) {
      const [version, sealedBy, iv, body] = sealed.split(".");
      if (version !== format || !iv || !body) throw new Error("a sealed value has an unknown form");
      const opener = ring.get(sealedBy ?? "");
      if (!opener)
        throw new Error(`a value was sealed with key ${sealedBy}, this process has ${[...ring.keys()].join(", ")}`);
      const bytes = Buffer.from(body, "base64url");
      // Node passes over what isn't base64url: one sealed value has one spelling.
      if (bytes.toString("base64url") !== body) throw new Error("a sealed value was touched");
      const decipher = createDecipheriv("aes-256-gcm", opener, Buffer.from(iv, "base64url")).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** HKDF (RFC 5869): the subkey reveals neither the key nor the subkey of another purpose. */
function subkeyOf(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `breezeway ${purpose}`, key.length));
}

/** Names a key without telling it. */
export function keyIdOf(key: Uint8Array): string {
  return createHash("sha256").update("breezeway key id").update(key).digest("base64url").slice(0, idLetters);
}

/** The key that a value was sealed with, and where its name stands, for statements that look at many. */
export const sealedBy = { from: format.length + 2, letters: idLetters };
