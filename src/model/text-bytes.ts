const utf8 = new TextEncoder();

/** The size of a text in UTF-8, as both databases store it. */
export function textBytes(text: string | null): number {
  return text === null ? 0 : utf8.encode(text).length;
}
