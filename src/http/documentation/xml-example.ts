import type { Schema } from "./description.ts";

/**
 * The value that an XML example of our own stands for. OpenAPI wants examples that fit the schema, so the document holds
 * values and the page shows the text. Reads elements and text, which is all that our examples hold.
 */
export function xmlExampleValue(schema: Schema, document: string): unknown {
  const [root] = elements(document.replace(/<\?.*?\?>/, ""));
  return root && readValue(schema, root.content);
}

interface Element {
  readonly name: string;
  readonly content: string;
}

/** No element of our examples contains another one of its own name. */
function elements(text: string): readonly Element[] {
  const found = text.matchAll(/<([\w:]+)(?:\s[^>]*)?(?:\/>|>(.*?)<\/\1>)/gs);
  return [...found].map(([, name, content = ""]) => ({ name: name!, content }));
}

function readValue(schema: Schema, content: string): unknown {
  if (schema.type === "integer") return Number(content);
  if (schema.type !== "object") return unescaped(content);
  const children = Map.groupBy(elements(content), ({ name }) => name);
  const entries = [...children].map(([name, alike]) => {
    const { items, ...own } = schema.properties?.[name] ?? {};
    const values = alike.map((one) => readValue(items ?? own, one.content));
    return [name, items ? values : values[0]];
  });
  return Object.fromEntries(entries);
}

const signs: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => signs[name]!);
}
