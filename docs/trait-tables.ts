import { type CataloguedTrait, cataloguedTraits, parameterText } from "../src/home/catalogue-texts.ts";

const begin = "<!-- trait tables: written by docs/write-traits.ts -->";
const end = "<!-- end of trait tables -->";

/** Replaces the tables of traits in the document and leaves the rest as it is. */
export function withTraits(document: string): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error("The document has no place for the trait tables.");
  return `${before}${begin}\n${cataloguedTraits().map(table).join("\n\n")}\n${end}${after}`;
}

function table({ name, meaning, fields, capabilities, commands }: CataloguedTrait): string {
  const rows = [
    ...fields.map((field) => ({ ...field, what: field.kind as string })),
    ...capabilities.map((capability) => ({ ...capability, what: "capability" })),
  ].map((one) => `| \`${one.name}\` | ${one.what} | ${one.type} | ${one.values} | ${one.meaning} |`);
  return `**\`${name}\`**: ${meaning}

| name | what | type | values | meaning |
|---|---|---|---|---|
${rows.join("\n")}${commands.length === 0 ? "" : `\n\n${commandTable(commands)}`}`;
}

function commandTable(commands: CataloguedTrait["commands"]): string {
  const rows = commands.map(({ name, meaning, parameters }) => {
    return `| \`${name}\` | ${parameters.map(parameterText).join(" ") || "none"} | ${meaning} |`;
  });
  return ["| command | parameters | meaning |", "|---|---|---|", ...rows].join("\n");
}
