/** Text that is HTML already. Everything else is escaped when it gets into a page. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[] | undefined;

/** Builds HTML: parts of other HTML go in as they are, texts are escaped, what is undefined leaves nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map((part, place) => write(part) + strings[place + 1]!);
  return new Html(strings[0]! + written.join(""));
}

function write(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map((one: Html) => one.text).join("\n");
  return escapeText(String(part));
}

function escapeText(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" };
  return text.replace(/[&<>"']/g, (sign) => `&${names[sign]};`);
}

/** Whatever stands in a document where a text should be. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** A text that is short enough for its place. */
export function clip(text: string, longest: number): string {
  const signs = [...text.slice(0, longest * 2 + 2)];
  return signs.length <= longest ? text : `${signs.slice(0, longest - 1).join("")}…`;
}
