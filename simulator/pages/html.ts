/** HTML that needs no escaping. All other text is escaped when it is inserted. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[] | undefined;

/** Builds HTML from a template: escapes texts, inserts Html unchanged, and leaves undefined out. */
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

/** A value of a document as text; a replaced document may hold any type. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Cuts a text to a number of characters. */
export function clip(text: string, longest: number): string {
  const signs = [...text.slice(0, longest * 2 + 2)];
  return signs.length <= longest ? text : `${signs.slice(0, longest - 1).join("")}…`;
}
