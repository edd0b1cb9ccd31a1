/** What a document of ours may hold. */
export type Yaml = string | number | boolean | null | readonly Yaml[] | { readonly [name: string]: Yaml };

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

/**
 * Reads the plain YAML that our samples are written in: blocks by indentation, JSON where something stands on one line,
 * and scalars that every reader takes alike. What two readers could take differently (anchors, folded text, `yes`,
 * numbers that begin with 0) is refused, and so is a name that stands twice.
 */
export function readYaml(text: string): readonly Yaml[] {
  return text.split(/^---$/m).map((document, at, all) => {
    const before = all.slice(0, at).reduce((sum, one) => sum + one.split("\n").length - 1, 0);
    const lines = document.split("\n").flatMap((line, index): Line[] => {
      const bare = line.replace(/(^|\s)#.*$/, "").trimEnd();
      if (bare.includes("\t")) throw new Error(`line ${before + index + 1}: a tab`);
      return bare === "" ? [] : [{ indent: bare.search(/\S/), text: bare.trim(), number: before + index + 1 }];
    });
    const rest = [...lines];
    const value = readBlock(rest, 0);
    if (rest[0]) throw new Error(`line ${rest[0].number}: not indented as what is above it`);
    return value;
  });
}

function readBlock(lines: Line[], indent: number): Yaml {
  const [first] = lines;
  if (!first || first.indent < indent) return null;
  return first.text.startsWith("- ") || first.text === "-"
    ? readList(lines, first.indent)
    : readMap(lines, first.indent);
}

function readList(lines: Line[], indent: number): Yaml {
  const items: Yaml[] = [];
  while (lines[0]?.indent === indent && lines[0].text.startsWith("- ")) {
    const { text, number } = lines.shift()!;
    const inside = text.slice(2).trimStart();
    if (/^[\w./-]+:(\s|$)/.test(inside)) {
      // A map that begins beside the dash goes on below its first name.
      const deeper = indent + text.length - inside.length;
      lines.unshift({ indent: deeper, text: inside, number });
      items.push(readMap(lines, deeper));
    } else items.push(readScalar(inside, number));
  }
  return items;
}

function readMap(lines: Line[], indent: number): Yaml {
  const map: Record<string, Yaml> = {};
  while (lines[0]?.indent === indent && !lines[0].text.startsWith("- ")) {
    const { text, number } = lines.shift()!;
    const [, name, value = ""] = /^([\w./-]+):(?:\s+(.*))?$/.exec(text) ?? [];
    if (name === undefined) throw new Error(`line ${number}: no name before a colon`);
    if (Object.hasOwn(map, name)) throw new Error(`line ${number}: ${name} stands twice`);
    map[name] = value === "" ? readBlock(lines, indent + 1) : readScalar(value, number);
  }
  return map;
}

function readScalar(text: string, number: number): Yaml {
  if (/^["[{]/.test(text)) return JSON.parse(text) as Yaml;
  if (/^(true|false|null|-?(0|[1-9]\d*))$/.test(text)) return JSON.parse(text) as Yaml;
  const isUnclear =
    /^(yes|no|on|off|y|n|~)$/i.test(text) || /^[-+.]?\d[\d_.:]*$/.test(text) || /^[&*!|>%@`'?]/.test(text);
  // An address with four numbers is no number to anybody.
  if (isUnclear && !/^\d+(\.\d+){3}$/.test(text))
    throw new Error(`line ${number}: ${text} is read differently elsewhere`);
  return text;
}
