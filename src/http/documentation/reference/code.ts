import { type Html, html } from "../../../web/html.ts";

/** Syntax highlighting of keys, texts, numbers and variables. */
export function jsonCode(value: unknown): Html {
  return marked(formatted(value), jsonParts);
}

/** Text that has one JSON value in each line. */
export function jsonLinesCode(text: string): Html {
  return marked(text.trimEnd(), jsonParts);
}

export function xmlCode(text: string): Html {
  return marked(indented(text), xmlParts);
}

export function shellCode(text: string): Html {
  return marked(text, shellParts);
}

/** The kinds of tokens, in the order in which they are tried; each name is a class in the style. */
type Parts = readonly (readonly [kind: string, pattern: RegExp])[];

const jsonParts: Parts = [
  ["key", /"(?:[^"\\]|\\.)*"(?=:)/y],
  ["text", /"(?:[^"\\]|\\.)*"/y],
  ["number", /-?\d[\d.eE+-]*|true|false|null/y],
];
const xmlParts: Parts = [
  ["soft", /<\?[^>]*\?>/y],
  ["key", /<\/?[\w:]+/y],
  ["text", /"[^"]*"/y],
  ["key", />/y],
];
const shellParts: Parts = [
  ["key", /curl(?= )/y],
  ["text", /'[^']*'/y],
  ["number", /\$[A-Z_]+/y],
  ["option", /(?<=\s)--?[A-Za-z-]+/y],
  ["soft", /\\(?=\n)/y],
];

function marked(text: string, parts: Parts): Html {
  let written = html``;
  let plain = "";
  for (let at = 0; at < text.length; ) {
    const [kind, found] = partAt(text, at, parts) ?? [];
    if (kind === undefined || found === undefined) {
      plain += text[at++];
      continue;
    }
    written = html`${written}${plain}<span class="${kind}">${found}</span>`;
    plain = "";
    at += found.length;
  }
  return html`${written}${plain}`;
}

function partAt(text: string, at: number, parts: Parts): readonly [kind: string, found: string] | undefined {
  for (const [kind, pattern] of parts) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found) return [kind, found];
  }
  return undefined;
}

const lineLength = 56;

/** Like JSON.stringify with two spaces, but a flat value that fits stays in one line. */
function formatted(value: unknown, margin = "", before = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((one) => ["", one] as const)
    : Object.entries(value).map(([name, one]) => [`${JSON.stringify(name)}: `, one] as const);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const isFlat = entries.every(([, one]) => typeof one !== "object" || one === null);
  const line = entries.map(([name, one]) => name + JSON.stringify(one)).join(", ");
  const space = Array.isArray(value) ? "" : " ";
  if (isFlat && before !== "" && before.length + line.length + 4 <= lineLength) {
    return `${open}${space}${line}${space}${close}`;
  }
  const inner = `${margin}  `;
  const lines = entries.map(([name, one]) => `${inner}${name}${formatted(one, inner, inner + name)}`);
  return `${open}\n${lines.join(",\n")}\n${margin}${close}`;
}

/** Puts each element on its own line and indents it by depth. */
function indented(xml: string): string {
  let depth = 0;
  return xml
    .replace(/>\s*</g, ">\n<")
    .split("\n")
    .map((line) => {
      if (line.startsWith("</")) depth--;
      const shown = "  ".repeat(depth) + line;
      if (/^<[^?/][^>]*>$/.test(line)) depth++;
      return shown;
    })
    .join("\n");
}
