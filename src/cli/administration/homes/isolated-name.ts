/** Characters that change the direction of the text after them. */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Letters of scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name or a value for a sentence: it can't turn the words after it around. */
export function isolated(name: string): string {
  const plain = name.replace(directionMarks, "");
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}
