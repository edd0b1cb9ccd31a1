import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { allowedImports } from "../../biome/arrows.ts";

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("the arrows in docs/architecture.md", () => {
  it("are those that the linter enforces", () => {
    const enforced = Object.entries(allowedImports).map(([folder, imports]) => [folder, imports.toSorted()] as const);
    assert.deepEqual(
      Object.fromEntries(enforced.map(([folder]) => [folder, importsInTable(folder)])),
      Object.fromEntries(enforced),
    );
  });
});

/** The folders that the table allows a folder to import; remarks in brackets are ignored. */
function importsInTable(folder: string): readonly string[] {
  const rows = [...textOf("docs/architecture.md").matchAll(/^\| ([^|]+) \| ([^|(]+)[^|]*\|$/gm)];
  const row = rows.find(([, folders]) => folders!.includes(`\`${folder}\``));
  return [...(row?.[2] ?? "").matchAll(/`([\w-]+)`/g)].map(([, name]) => name!).sort();
}
