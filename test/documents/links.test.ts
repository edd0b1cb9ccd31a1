import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { documents } from "./blocks.ts";

const root = new URL("../..", import.meta.url).pathname;

describe("the documents", () => {
  it("link only to files and headings that exist", () => {
    const broken = documents().flatMap((document) => brokenLinks(document).map((link) => `${document}: ${link}`));
    assert.deepEqual(broken, []);
  });

  it("say by default or automatically, never by itself", () => {
    const found = documents().filter((document) => /\bby (itself|themselves)\b/.test(textOf(document)));
    assert.deepEqual(found, []);
  });
});

function brokenLinks(document: string): readonly string[] {
  const links = [...textOf(document).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
  return links
    .filter(([, path = "", heading]) => {
      const target = path === "" ? document : join(dirname(document), path);
      if (!existsSync(join(root, target))) return true;
      return heading !== undefined && !headingsOf(target).includes(heading);
    })
    .map(([link]) => link);
}

/** The anchors of a document's headings, as GitHub generates them. */
function headingsOf(document: string): readonly string[] {
  const withoutBlocks = textOf(document).replace(/^ *```[\s\S]*?^ *```$/gm, "");
  return [...withoutBlocks.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function textOf(document: string): string {
  return readFileSync(join(root, document), "utf8");
}
