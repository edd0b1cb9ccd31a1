/** The longest text that an attribute holds, in UTF-16 units; names of 10 KB have been seen. */
export const longestText = 8192;

/**
 * Makes text from outside storable in every database: no NUL (PostgreSQL refuses it), no half of a surrogate pair
 * (UTF-8 can't encode it), and a bounded length. Most text passes unchanged.
 */
export function cleanText(text: string): string {
  const cut = text.length > longestText ? cutTo(text, longestText) : text;
  const wellFormed = cut.isWellFormed() ? cut : cut.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}

/** Cuts before a code point rather than through it. */
function cutTo(text: string, length: number): string {
  const codePoint = text.codePointAt(length - 1)!;
  return text.slice(0, codePoint > 0xffff ? length - 1 : length);
}
