import { createHash } from "node:crypto";

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Deterministic random numbers (mulberry32, seeded with the text's digest). */
export function seededRandom(text: string): Random {
  let state = createHash("sha256").update(text).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from `lowest` to `highest`, both included. */
export function integerBetween(random: Random, lowest: number, highest: number): number {
  return lowest + Math.floor(random() * (highest - lowest + 1));
}

/** A random item; undefined if the list is empty. */
export function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

/** An opaque URL-safe id: a digest of the text, because ids from the 32-bit random numbers could collide. */
export function opaqueId(text: string, length: number): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, length);
}
