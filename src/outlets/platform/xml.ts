/** An element of an answer: its name and its text or its children. */
export type Element = readonly [name: string, content: string | number | readonly Element[]];

const namespace = "http://arrayent.com/zamapi/";

/** A whole document; only the root carries the prefix. */
export function document(rootName: string, children: readonly Element[]): string {
  const [start, end] = root(rootName);
  return start + content(children) + end;
}

/** A document in slices, one for each page of children, so that it need not be held in memory as a whole. */
export async function* documentInSlices(
  rootName: string,
  pages: AsyncIterable<readonly Element[]>,
): AsyncGenerator<string> {
  const [start, end] = root(rootName);
  let opening = start;
  for await (const children of pages) {
    yield opening + content(children);
    opening = "";
  }
  yield opening + end;
}

function root(name: string): readonly [start: string, end: string] {
  return [`<?xml version="1.0" encoding="UTF-8"?>\n<ns1:${name} xmlns:ns1="${namespace}">`, `</ns1:${name}>`];
}

function content(children: readonly Element[]): string {
  return children.map(write).join("");
}

/**
 * Whether XML 1.0 can carry the text: it forbids most control characters and halves of surrogate pairs, even escaped.
 */
export function isXmlText(text: string): boolean {
  return text.search(forbidden) < 0;
}

function write([name, content]: Element): string {
  return `<${name}>${typeof content === "object" ? content.map(write).join("") : escapeText(String(content))}</${name}>`;
}

const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const marks: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // Unescaped, a parser would turn it into a line feed.
  "\r": "&#13;",
};

/** Escapes text. Text of an ecosystem may hold anything; forbidden characters become the replacement character. */
function escapeText(text: string): string {
  return text.replace(forbidden, "\uFFFD").replace(/[&<>"\r]/g, (mark) => marks[mark]!);
}
