import { createHmac, hash, randomFillSync, timingSafeEqual } from "node:crypto";
import type { OwnerId } from "../model/ids.ts";
import type { CredentialKey } from "../store/tables/credential-key.ts";

const secretBytes = 32;
/** Randomness for the next secrets: drawn one by one, it would be a good part of what a token costs. */
const drawnAtOnce = Buffer.alloc(128 * secretBytes);
let drawn = drawnAtOnce.length;

/** 256 random bits in `[A-Za-z0-9_-]`, under a prefix that tells what they are. */
export function newSecret(prefix: string): string {
  if (drawn === drawnAtOnce.length) {
    randomFillSync(drawnAtOnce);
    drawn = 0;
  }
  const bytes = drawnAtOnce.subarray(drawn, drawn + secretBytes);
  drawn += secretBytes;
  const secret = prefix + bytes.toString("base64url");
  // Nobody who looks at our memory later finds it here.
  bytes.fill(0);
  return secret;
}

/** What is kept of a secret. It is 256 random bits: a fast hash is enough, and whoever reads the store can use none. */
export function hashOf(secret: string): string {
  return hash("sha256", secret, "base64url");
}

/** A secret that tells us whose it is, so that we know where to look for what we kept of it. */
export function newCredential(prefix: string, ownerId: OwnerId): string {
  return withOwner(newSecret(prefix), ownerId);
}

/** At the end stands whose it is, under a cover made of its own bits: no secret, but nothing to begin to read either. */
export function withOwner(secret: string, ownerId: OwnerId): string {
  const place = Buffer.alloc(4);
  place.writeInt32BE(ownerId ^ coverOf(secret));
  return secret + place.toString("base64url");
}

/** Whether somebody could have got it from us: those from before don't tell whose they are. */
export function isCredential(prefix: string, text: string): boolean {
  return text.startsWith(prefix) && /^[A-Za-z0-9_-]{43}(?:[A-Za-z0-9_-]{6})?$/.test(text.slice(prefix.length));
}

/** By what a credential is kept, whatever somebody sent as one. */
export function keyOf(credential: string): CredentialKey {
  const [, secret, place] = /([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/.exec(credential) ?? [];
  const ownerId = secret && place ? Buffer.from(place, "base64url").readInt32BE() ^ coverOf(secret) : 0;
  return { ownerId: ownerId as OwnerId, hash: hashOf(credential) };
}

function coverOf(secret: string): number {
  return Buffer.from(secret.slice(-43), "base64url").readInt32BE();
}

/** In a time that tells nothing but whether they are equally long, which of ours everybody knows. */
export function isSame(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}

/** A secret of its own for each purpose, known only to who has the first: nothing of it needs to be kept. */
export function derivedSecret(secret: string, purpose: string): string {
  return createHmac("sha256", secret).update(purpose).digest("base64url");
}
