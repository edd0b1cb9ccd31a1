import { globSync, readFileSync } from "node:fs";

export const languages = ["bash", "ts", "json", "http"] as const;

/** A fenced code block of a document, which must work. */
export interface Block {
  readonly document: string;
  readonly line: number;
  readonly language: (typeof languages)[number];
  readonly text: string;
}

const root = new URL("../../", import.meta.url).pathname;

/** All documents, the README first. */
export function documents(): string[] {
  const found = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md", "sdk/*.md", "examples/**/*.md"], {
    cwd: root,
    exclude: (name) => name === "node_modules",
  });
  return found.sort((a, b) => Number(b === "README.md") - Number(a === "README.md") || a.localeCompare(b));
}

export function blocksOf(document: string): Block[] {
  return readBlocks(document, readFileSync(root + document, "utf8"));
}

/** All fenced blocks in one of the languages; a fence may be indented, as in a list. */
export function readBlocks(document: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; language: string; indent: string; fence: string; lines: string[] } | undefined;
  for (const [i, line] of markdown.split("\n").entries()) {
    const [, indent = "", fence = "", info = ""] = /^( *)(`{3,}|~{3,})\s*(\S*)/.exec(line) ?? [];
    if (!open) {
      if (fence) open = { line: i + 1, language: info, indent, fence, lines: [] };
    } else if (fence.startsWith(open.fence) && !info) {
      const language = languages.find((one) => one === open!.language);
      const text = `${open.lines.join("\n")}\n`;
      if (language) blocks.push({ document, line: open.line, language, text });
      open = undefined;
    } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
  }
  if (open) throw new Error(`${document}:${open.line}: the fence is never closed`);
  return blocks;
}
