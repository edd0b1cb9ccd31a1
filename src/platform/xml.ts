/** An element of an answer: its name and its text or its children. */
export type Element = readonly [name: string, content: string | number | readonly Element[]];

const namespace = "http://arrayent.com/zamapi/";

/** A whole document; only the root carries the prefix (platform-protocol.md). */
export function document(rootName: string, children: readonly Element[]): string {
  const content = children.map(write).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ns1:${rootName} xmlns:ns1="${namespace}">${content}</ns1:${rootName}>`;
}

/** Whether XML 1.0 can carry the text at all: most control characters and halves of surrogate pairs it can't, not even escaped. */
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
  // Unescaped, a reader would turn it into a line feed.
  "\r": "&#13;",
};

/** What came from an ecosystem may hold anything; what XML forbids becomes the replacement character. */
function escapeText(text: string): string {
  return text.replace(forbidden, "\uFFFD").replace(/[&<>"\r]/g, (mark) => marks[mark]!);
}
