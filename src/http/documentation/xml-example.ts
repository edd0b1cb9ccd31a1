import type { Schema } from "../../model/json-schema.ts";

/**
 * The value of an XML example. OpenAPI requires examples that match the schema, so the document holds values and the
 * page shows the text. Handles elements and text only, which is all that the examples contain.
 */
export function xmlExampleValue(schema: Schema, document: string): unknown {
  const [root] = elements(document.replace(/<\?.*?\?>/, ""));
  return root && readValue(schema, root.content);
}

interface Element {
  readonly name: string;
  readonly content: string;
}

/**
 * The elements on the first level of a text. Relies on examples in which no element contains another one of the same
 * name.
 */
function elements(text: string): readonly Element[] {
  const found = text.matchAll(/<([\w:]+)(?:\s[^>]*)?(?:\/>|>(.*?)<\/\1>)/gs);
  return [...found].map(([, name, content = ""]) => ({ name: name!, content }));
}

function readValue(schema: Schema, content: string): unknown {
  if (schema.type === "integer") return Number(content);
  if (schema.type !== "object") return unescapeXml(content);
  const children = Map.groupBy(elements(content), ({ name }) => name);
  const entries = [...children].map(([name, siblings]) => {
    const { items, ...own } = schema.properties?.[name] ?? {};
    const values = siblings.map((one) => readValue(items ?? own, one.content));
    return [name, items ? values : values[0]];
  });
  return Object.fromEntries(entries);
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescapeXml(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => entities[name]!);
}
