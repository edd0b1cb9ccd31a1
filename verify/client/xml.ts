import { plain } from "../visitor/form.ts";

/** The text of the first element of that name in a platform answer; undefined when there is none. */
export function element(xml: string, name: string): string | undefined {
  return elements(xml, name)[0];
}

function elements(xml: string, name: string): readonly string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?(?:/>|>([\\s\\S]*?)</${name}>)`, "g"));
  return [...found].map(([, inner = ""]) => plain(inner));
}
