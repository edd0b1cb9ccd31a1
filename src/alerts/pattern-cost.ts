import { estimatedSize } from "./pattern-size.ts";

/** What compiling costs beside the instructions, in the time of an instruction. All measured, and rounded up. */
const costs = {
  pattern: 20,
  /** A class of Unicode has hundreds of ranges, and its case-insensitive form is found character by character. */
  unicodeClass: { exact: 300, folded: 600 },
  perlClass: { exact: 2, folded: 10 },
  /** Characters of a case-insensitive range that are examined in the time of an instruction. */
  foldedCharacters: 10,
};
/** The first and the last character with another case. */
const folding = { from: 0x41, to: 0x1e943 };

const flagIgnoringCase = /\(\?[A-Za-z]*i/;
const unicodeClass = /\\[pP]/g;
const perlClass = /\\[dDsSwW]|\[:/g;
const end = String.raw`\\x\{([\da-fA-F]*)\}|\\x([\da-fA-F]{2})|(\\)?([\s\S])`;
const range = new RegExp(`(?:${end})-(?=${end})`, "gu");

/**
 * Estimates what compiling a pattern costs, without compiling it, in instructions of its program. It reads the text
 * alone, whatever a range or a class in it stands for, so that no spelling costs more than its estimate.
 */
export function estimatedCost(pattern: string): number {
  const isFolded = flagIgnoringCase.test(pattern);
  const kind = isFolded ? "folded" : "exact";
  return (
    costs.pattern +
    estimatedSize(pattern) +
    countOf(unicodeClass, pattern) * costs.unicodeClass[kind] +
    countOf(perlClass, pattern) * costs.perlClass[kind] +
    (isFolded ? foldedRanges(pattern) : 0)
  );
}

function countOf(token: RegExp, pattern: string): number {
  return pattern.match(token)?.length ?? 0;
}

function foldedRanges(pattern: string): number {
  let characters = 0;
  for (const [, ...ends] of pattern.matchAll(range)) {
    const from = Math.max(folding.from, codeOf(ends, 0));
    const to = Math.min(folding.to, codeOf(ends.slice(4, 8), 0x1ff));
    characters += Math.max(0, to - from + 1);
  }
  return Math.ceil(characters / costs.foldedCharacters);
}

/** The character at an end of a range. Escapes other than hexadecimal ones stand for characters up to `\777`. */
function codeOf([long, short, backslash, character]: readonly (string | undefined)[], ofEscape: number): number {
  const hexadecimal = long ?? short;
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16) || 0;
  return backslash === undefined ? character!.codePointAt(0)! : ofEscape;
}
