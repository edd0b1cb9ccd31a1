const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Fast path: text without wide or composed characters. */
const isPlain = /^[\x20-\x7e]*$/;
const isWide =
  /^(?:\p{Emoji_Presentation}|[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6])/u;
/** An emoji that is selected by the variation selector after it. */
const isDrawn = /\p{Extended_Pictographic}\ufe0f/u;
const isUnseen = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** The number of terminal columns of a text. */
export function textWidth(text: string): number {
  if (isPlain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += segmentWidth(segment);
  return width;
}

/** Shortens a text to this many columns, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += segmentWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

export function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

function segmentWidth(segment: string): number {
  if (isUnseen.test(segment)) return 0;
  return isWide.test(segment) || isDrawn.test(segment) ? 2 : 1;
}
