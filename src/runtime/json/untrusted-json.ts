import { limits } from "../../model/limits.ts";
import { scanJson } from "./json-scan.ts";

/** Bounds of a text from outside. They are checked before the text is parsed. */
export interface JsonBounds {
  /** Of the text in UTF-16 code units, which are never more than its bytes. */
  readonly bytes: number;
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** Commas, arrays and objects together: about as many as values, and never fewer than half of them. */
  readonly values: number;
}

/** A handshake, a token or a refusal. */
export const handshakeBounds: JsonBounds = {
  bytes: limits.untrustedJsonHandshakeBytes,
  depth: limits.untrustedJsonHandshakeDepth,
  values: limits.untrustedJsonHandshakeValues,
};

/** An ordinary message or answer, and the largest text that the main thread parses. */
export const messageBounds: JsonBounds = {
  bytes: limits.untrustedJsonMessageBytes,
  depth: limits.untrustedJsonDepth,
  values: limits.untrustedJsonMessageValues,
};

/** A large text, which a thread reads (json-thread.ts). */
export const largeBounds: JsonBounds = {
  bytes: limits.untrustedJsonLargeBytes,
  depth: limits.untrustedJsonDepth,
  values: limits.untrustedJsonLargeValues,
};

/**
 * Parses JSON from outside; undefined for text that is invalid or beyond a bound. The reason is left out, because the
 * engine's message quotes the text, and the text may hold a token.
 */
export function parseUntrusted(text: string, bounds = messageBounds): unknown {
  // The length alone proves the number of values, because the shortest are `[]` and `1,`. The depth is checked below.
  if (text.length > bounds.bytes) return undefined;
  const isShort = text.length / 2 <= bounds.values;
  if (!isShort && isBeyond(text, bounds)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isShort && isDeeper(value, bounds.depth) ? undefined : value;
}

/** True if a text must not be parsed. */
export function isBeyond(text: string, bounds: JsonBounds): boolean {
  if (text.length > bounds.bytes) return true;
  const { depth, parts } = scanJson(text);
  return depth > bounds.depth || parts > bounds.values;
}

/** True if a thread may read a text that `parseUntrusted` refused: it may be valid, and have too many bytes or values. */
export function isForThread(text: string): boolean {
  return text.length / 2 > messageBounds.values;
}

/** The engine parses any depth without recursion. This walk stops at the limit. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    // Most items are not objects: testing here saves a call for each.
    if (typeof item === "object" && isDeeper(item, levels - 1)) return true;
  }
  return false;
}

/** An object as JSON knows it: neither null nor a list. */
export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
