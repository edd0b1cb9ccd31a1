/** HTML that is safe to insert. Only `html` creates it; all other values are escaped when they are inserted. */
export interface Html {
  readonly text: string;
}

/** What a template may contain. */
export type Part = Html | string | number | readonly Html[] | undefined;

/** Builds HTML from a template: HTML is inserted unchanged, text is escaped, undefined is left out. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map((part, index) => write(part) + strings[index + 1]!);
  return new EscapedHtml(strings[0]! + written.join(""));
}

class EscapedHtml implements Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function write(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof EscapedHtml) return part.text;
  if (Array.isArray(part)) return part.map(write).join("\n");
  return escapeText(String(part));
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character]!);
}
