/** The beginning of a text. A copy: a part of a text keeps the whole in memory. */
export function shortText(text: string, limit: number): string {
  return text.length <= limit ? text : Buffer.from(text.slice(0, limit)).toString();
}
