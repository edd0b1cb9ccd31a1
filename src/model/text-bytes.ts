const utf8 = new TextEncoder();

/** The size of a text in UTF-8, as both databases store it. */
export function textBytes(text: string | null | undefined): number {
  if (!text) return 0;
  // Most texts are short ASCII, for which the encoder costs more than the look at each character.
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return utf8.encode(text).length;
  }
  return text.length;
}
