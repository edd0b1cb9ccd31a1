const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
/** Members are counted in objects up to this depth. */
const countedDepth = 256;

/** Facts about a text that may be JSON, found in one pass without allocations. */
export interface JsonScan {
  /** Number of strings before a colon, which are names of members. */
  readonly names: number;
  /** How deep arrays and objects are nested. */
  readonly depth: number;
  /** Number of commas, arrays and objects together, which is at least half of the number of values. */
  readonly parts: number;
  /** The most members of one object. */
  readonly members: number;
}

export function scanJson(text: string): JsonScan {
  let names = 0;
  let depth = 0;
  let deepest = 0;
  let parts = 0;
  let members = 0;
  const membersAt = new Uint32Array(countedDepth);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
      if (text.charCodeAt(nextVisible(text, at + 1)) !== colon) continue;
      names += 1;
      if (depth < 0 || depth >= countedDepth) continue;
      const ofObject = membersAt[depth]! + 1;
      membersAt[depth] = ofObject;
      if (ofObject > members) members = ofObject;
    } else if (isOpening(code)) {
      depth += 1;
      parts += 1;
      if (depth > deepest) deepest = depth;
      if (depth >= 0 && depth < countedDepth) membersAt[depth] = 0;
    } else if (isClosing(code)) depth -= 1;
    else if (code === comma) parts += 1;
  }
  return { names, depth: deepest, parts, members };
}

/** The closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return at;
}

function nextVisible(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function isOpening(code: number): boolean {
  return code === 0x7b || code === 0x5b;
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}
