import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits in `[A-Za-z0-9_-]`, under a prefix that tells what they are. */
export function newSecret(prefix: string): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** What is kept of a secret. It is 256 random bits: a fast hash is enough, and whoever reads the store can use none. */
export function hashOf(secret: string): string {
  return hash("sha256", secret, "base64url");
}

/** In constant time, whatever the lengths. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(createHash("sha256").update(one).digest(), createHash("sha256").update(other).digest());
}

/** A secret of its own for each purpose, known only to who has the first: nothing of it needs to be kept. */
export function derivedSecret(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}
