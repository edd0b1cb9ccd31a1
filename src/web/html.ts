/** Text that is HTML already: only `html` makes it, so everything else is escaped when it gets into a page. */
export interface Html {
  readonly text: string;
}

export type Part = Html | string | number | readonly Html[] | undefined;

/** Builds HTML: parts of other HTML go in as they are, texts are escaped, what is undefined leaves nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map((part, place) => write(part) + strings[place + 1]!);
  return new Written(strings[0]! + written.join(""));
}

class Written implements Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function write(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Written) return part.text;
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
  return text.replace(/[&<>"']/g, (sign) => escapes[sign]!);
}
