import { createHmac, hash, randomFillSync, timingSafeEqual } from "node:crypto";
import type { OwnerId } from "../model/ids.ts";
import type { OwnedSecretKey } from "../store/tables/owned-secret-key.ts";

const secretBytes = 32;
/** A pool of random bytes for the next secrets: single calls would be a large part of a token's cost. */
const randomPool = Buffer.alloc(128 * secretBytes);
let poolUsed = randomPool.length;

/** A secret of 256 random bits in base64url, after a prefix that names its kind. */
export function newSecret(prefix: string): string {
  if (poolUsed === randomPool.length) {
    randomFillSync(randomPool);
    poolUsed = 0;
  }
  const bytes = randomPool.subarray(poolUsed, poolUsed + secretBytes);
  poolUsed += secretBytes;
  const secret = prefix + bytes.toString("base64url");
  // The pool keeps no copy of the secret.
  bytes.fill(0);
  return secret;
}

/** The SHA-256 of a secret, which is stored instead of it. A fast hash is enough for 256 random bits. */
export function hashOf(secret: string): string {
  return hash("sha256", secret, "base64url");
}

/** A secret that also encodes its owner, so that it can be looked up by owner. */
export function newOwnedSecret(prefix: string, ownerId: OwnerId): string {
  return withOwner(newSecret(prefix), ownerId);
}

/** Appends the owner's id, masked with bits of the secret. The id is not secret; the mask only keeps it from being read. */
export function withOwner(secret: string, ownerId: OwnerId): string {
  const maskedOwner = Buffer.alloc(4);
  maskedOwner.writeInt32BE(ownerId ^ ownerMask(secret));
  return secret + maskedOwner.toString("base64url");
}

/** Whether the text has the format of a credential with this prefix. Those of older versions have no owner. */
export function isOwnedSecret(prefix: string, text: string): boolean {
  return text.startsWith(prefix) && /^[A-Za-z0-9_-]{43}(?:[A-Za-z0-9_-]{6})?$/.test(text.slice(prefix.length));
}

/** The key under which a credential is stored. Accepts any text; without an owner in it, the owner is 0. */
export function keyOf(credential: string): OwnedSecretKey {
  const [, secret, maskedOwner] = /([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/.exec(credential) ?? [];
  const ownerId = secret && maskedOwner ? Buffer.from(maskedOwner, "base64url").readInt32BE() ^ ownerMask(secret) : 0;
  return { ownerId: ownerId as OwnerId, hash: hashOf(credential) };
}

function ownerMask(secret: string): number {
  return Buffer.from(secret.slice(-43), "base64url").readInt32BE();
}

/** Compares in constant time. Only a difference in length, which is public, can be measured. */
export function isSame(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}

/** Derives a secret for one purpose (HMAC). It can be computed again from the first secret, so it need not be stored. */
export function derivedSecret(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}
