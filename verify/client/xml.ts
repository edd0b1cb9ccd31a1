import { unescaped } from "../visitor/form.ts";

/** The text of the first element with this name in a platform answer. */
export function element(xml: string, name: string): string | undefined {
  const match = new RegExp(`<${name}(?:\\s[^>]*)?(?:/>|>([\\s\\S]*?)</${name}>)`).exec(xml);
  return match ? unescaped(match[1] ?? "") : undefined;
}
