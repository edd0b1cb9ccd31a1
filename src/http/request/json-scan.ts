const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** Facts about a text that may be JSON, found in one pass without allocations. */
export interface JsonScan {
  /** Number of strings before a colon, which are names of members. */
  readonly names: number;
  /** How deep arrays and objects are nested. */
  readonly depth: number;
}

export function scanJson(text: string): JsonScan {
  let names = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
      if (text.charCodeAt(nextVisible(text, at + 1)) === colon) names += 1;
    } else if (isOpening(code)) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (isClosing(code)) depth -= 1;
  }
  return { names, depth: deepest };
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
