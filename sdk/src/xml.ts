import { UnexpectedAnswer } from "./errors.ts";

/** @internal */
export interface XmlElement {
  /** Without the namespace prefix. */
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const piece =
  /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([^\s<>/!?]+)(?:\s[^<>]*?)?(\/?)>|([^<]+)/y;
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }),
);

/**
 * Parses an XML document of the platform calls: elements and text. Browsers have an XML parser, Node has none.
 * @internal
 */
export function readXml(document: string): XmlElement {
  const top: OpenElement = { name: "", text: "", children: [] };
  const open: OpenElement[] = [top];
  piece.lastIndex = 0;
  for (let at = 0; at < document.length; at = piece.lastIndex) {
    const found = piece.exec(document);
    if (!found) throw malformed();
    const [, raw, closing, name, selfClosing, text] = found;
    const current = open[open.length - 1]!;
    if (raw !== undefined) current.text += raw;
    else if (text !== undefined) current.text += readText(text);
    else if (name === undefined) continue;
    else if (closing) {
      if (open.length === 1 || open.pop()!.name !== withoutPrefix(name)) throw malformed();
    } else {
      const element: OpenElement = { name: withoutPrefix(name), text: "", children: [] };
      current.children.push(element);
      if (!selfClosing) open.push(element);
    }
  }
  const [root, ...more] = top.children;
  if (open.length > 1 || !root || more.length > 0) throw malformed();
  return root;
}

/** @internal */
export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

interface OpenElement extends XmlElement {
  text: string;
  readonly children: XmlElement[];
}

function readText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/&(#x?[0-9a-f]+|\w+);/gi, (_, name: string) => {
    const character = name.startsWith("#") ? codePoint(name.slice(1)) : entities.get(name);
    if (character === undefined) throw malformed();
    return character;
  });
}

function codePoint(digits: string): string | undefined {
  const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : undefined;
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function malformed(): UnexpectedAnswer {
  return new UnexpectedAnswer("The answer isn't XML of the platform calls.");
}
