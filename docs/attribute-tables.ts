import {
  type AttributeGroup,
  attributeCatalogue,
  attributeNames,
  valueKindNames,
} from "../src/virtual-device/attribute-catalogue.ts";

/** The sections of docs/interface.md that are generated from the catalogue, by the name in their markers. */
const parts: Readonly<Record<string, (groups: readonly AttributeGroup[]) => string>> = {
  "attribute tables": (groups) => groups.map(table).join("\n\n"),
  "attribute names": () => {
    const names = attributeNames();
    return `<details>\n<summary>All ${names.length} names</summary>\n\n\`\`\`text\n${names.join("\n")}\n\`\`\`\n\n</details>`;
  },
};

/** Replaces the generated sections of the document and leaves the rest as it is. */
export function withAttributes(document: string): string {
  const groups = attributeCatalogue();
  return Object.entries(parts).reduce((text, [name, write]) => {
    const [begin, end] = [`<!-- ${name}: written by docs/write-attributes.ts -->`, `<!-- end of ${name} -->`];
    const [before, rest] = text.split(begin);
    const after = rest?.split(end)[1];
    if (before === undefined || after === undefined) throw new Error(`The document has no part "${name}".`);
    return `${before}${begin}\n${write(groups)}\n${end}${after}`;
  }, document);
}

function table({ title, indexes, count, otherSpellings, attributes }: AttributeGroup): string {
  const facts = [indexes, count === 1 ? "1 name" : `${count} names`, ...alsoSpelled(otherSpellings)];
  const rows = attributes.map(({ pattern, isWritable, valueKind, values, meaning }) => {
    const access = isWritable ? "**writable**" : "read-only";
    return `| \`${pattern}\` | ${access} | ${valueKindNames[valueKind]} | ${values} | ${meaning} |`;
  });
  return `**${title}** (${facts.filter(Boolean).join("; ")})

| name | access | type | values | meaning |
|---|---|---|---|---|
${rows.join("\n")}`;
}

function alsoSpelled(spellings: readonly string[]): readonly string[] {
  return spellings.length === 0 ? [] : [`also understood: ${spellings.map((name) => `\`${name}\``).join(", ")}`];
}
