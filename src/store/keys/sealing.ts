import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/**
 * Seals (encrypts and authenticates) values with AES-256-GCM. Each value is bound to a context, which is authenticated
 * but not stored (AAD): a value that is copied to another row can't be opened there. The keys themselves seal values in
 * the store; every other purpose has its own subkeys (`derive`).
 */
export interface Sealing extends Sealer {
  /** The id of the key that seals. It reveals nothing about the key. */
  readonly keyId: string;
  /** The ids of all keys that open. */
  readonly keyIds: readonly string[];
  /** Seals and opens with subkeys that serve only this purpose. */
  derive(purpose: string): Sealer;
}

export interface Sealer {
  seal(text: string, context: string): string;
  /** Throws when the value was sealed with an unknown key or for another context, or was changed. */
  open(sealed: string, context: string): string;
}

const format = "v1";
const idLetters = 12;
const ivBytes = 12;
const authTagBytes = 16;

/** The first key seals. The older keys only open, until a rotation has resealed their values. */
export function sealingWith(key: Uint8Array, ...older: readonly Uint8Array[]): Sealing {
  const keyId = keyIdOf(key);
  const ring = new Map([key, ...older].map((each) => [keyIdOf(each), each]));
  /** Cache of derived sealers, without a limit: the code names few purposes. */
  const derived = new Map<string, Sealer>();
  return {
    keyId,
    keyIds: [...ring.keys()],
    derive(purpose) {
      const known = derived.get(purpose);
      if (known) return known;
      const olderSubkeys = older.map((each) => subkeyOf(each, purpose));
      const sealer = sealingWith(subkeyOf(key, purpose), ...olderSubkeys);
      derived.set(purpose, sealer);
      return sealer;
    },
    seal(text, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [format, keyId, iv.toString("base64url"), sealed.toString("base64url")].join(".");
    },
    open(sealed, context) {
      const [version, sealedBy, iv, body] = sealed.split(".");
      if (version !== format || !iv || !body) throw new Error("a sealed value has an unknown form");
      const opener = ring.get(sealedBy ?? "");
      if (!opener)
        throw new Error(`a value was sealed with key ${sealedBy}, this process has ${[...ring.keys()].join(", ")}`);
      const bytes = Buffer.from(body, "base64url");
      // Node ignores characters that are not base64url. Refuse them: each sealed value has exactly one encoding.
      if (bytes.toString("base64url") !== body) throw new Error("a sealed value was changed");
      const decipher = createDecipheriv("aes-256-gcm", opener, Buffer.from(iv, "base64url")).setAAD(
        Buffer.from(context),
      );
      decipher.setAuthTag(bytes.subarray(-authTagBytes));
      return decipher.update(bytes.subarray(0, -authTagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** HKDF (RFC 5869): the subkey reveals neither the key nor the subkey of another purpose. */
function subkeyOf(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `breezeway ${purpose}`, key.length));
}

/** The id of a key: a digest, which reveals nothing about the key. */
export function keyIdOf(key: Uint8Array): string {
  return createHash("sha256").update("breezeway key id").update(key).digest("base64url").slice(0, idLetters);
}

/** The position of the key id in a sealed value, counted from 1, for SQL statements. */
export const keyIdPosition = { from: format.length + 2, letters: idLetters };
