/** A parsed element. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly ReadElement[];
}

/**
 * A strict parser for the answers. It throws at everything that XML 1.0 forbids, and at syntax that the answers don't
 * use. It shares no code with the writer.
 */
export function readStrictly(xml: string): ReadElement {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!xml.startsWith(declaration)) throw new Error("no XML declaration");
  for (const character of xml) {
    const code = character.codePointAt(0)!;
    const isAllowed =
      code === 9 ||
      code === 10 ||
      code === 13 ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd);
    if (!isAllowed && code < 0x10000) throw new Error(`character ${code} is forbidden`);
  }
  const reader = { at: declaration.length, xml };
  const root = readElement(reader);
  if (reader.at !== xml.length) throw new Error("something follows the root");
  return root;
}

interface Reader {
  at: number;
  readonly xml: string;
}

function readElement(reader: Reader): ReadElement {
  const [, name = "", attributeText = ""] = take(reader, /<([A-Za-z_][\w:.-]*)((?: [\w:]+="[^"<&]*")*)>/y);
  const attributes = Object.fromEntries(
    [...attributeText.matchAll(/ ([\w:]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  const children: ReadElement[] = [];
  let text = "";
  while (!reader.xml.startsWith("</", reader.at)) {
    if (reader.xml[reader.at] === "<") children.push(readElement(reader));
    else text += readText(reader);
  }
  const [, closed] = take(reader, /<\/([A-Za-z_][\w:.-]*)>/y);
  if (closed !== name) throw new Error(`${name} is closed by ${closed}`);
  if (children.length > 0 && text !== "") throw new Error(`${name} holds text beside elements`);
  return { name, attributes, text, children };
}

function readText(reader: Reader): string {
  const [raw] = take(reader, /[^<]+/y);
  if (raw.includes("]]>")) throw new Error("]]> stands in text");
  // XML parsers turn every unescaped line end into a line feed.
  return raw.replace(/\r\n?/g, "\n").replace(/&([^;]*);?/g, (whole, entity: string) => {
    const known: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#13": "\r" };
    const character = known[entity];
    if (character === undefined || !whole.endsWith(";")) throw new Error(`the entity ${whole} is unknown`);
    return character;
  });
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.xml);
  if (!found)
    throw new Error(`not well-formed at ${reader.at}: ${JSON.stringify(reader.xml.slice(reader.at, reader.at + 40))}`);
  reader.at = pattern.lastIndex;
  return found;
}
