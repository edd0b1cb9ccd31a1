/** The first form of an HTML page. */
export interface Form {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** The names of visible fields and buttons. */
  readonly names: readonly string[];
}

export function readForm(html: string): Form | undefined {
  const [whole, opening = ""] = /(<form\b[^>]*>)[\s\S]*?<\/form>/i.exec(html) ?? [];
  if (whole === undefined) return undefined;
  const hidden: Record<string, string> = {};
  const names: string[] = [];
  for (const [tag] of whole.matchAll(/<(?:input|button|select|textarea)\b[^>]*>/gi)) {
    const name = attribute(tag, "name");
    if (name === "") continue;
    if (attribute(tag, "type").toLowerCase() === "hidden") hidden[name] = attribute(tag, "value");
    else names.push(name);
  }
  return { action: attribute(opening, "action"), hidden, names };
}

function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`, "i").exec(tag)?.[1] ?? "");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Decodes the entities of HTML and XML. */
export function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex ?? decimal) return String.fromCodePoint(Number.parseInt(hex ?? decimal, hex ? 16 : 10));
    return entities[name.toLowerCase()] ?? whole;
  });
}
