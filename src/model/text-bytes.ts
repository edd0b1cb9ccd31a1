const utf8 = new TextEncoder();

/** The size of a text in UTF-8, as both databases store it. */
export function textBytes(text: string | null | undefined): number {
  return utf8.encode(text ?? "").length;
}
