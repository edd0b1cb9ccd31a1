import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { limits } from "../../src/model/limits.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/limits.md", root), "utf8");

describe("docs/limits.md", () => {
  it("has a row for each limit, and for no other", () => {
    const cells = [...page.matchAll(/^\| (`[a-z]\w+`(?:, `[a-z]\w+`)*) \|/gm)].map(([, cell]) => cell!);
    const rows = new Set(cells.flatMap((cell) => cell.replaceAll("`", "").split(", ")));
    assert.deepEqual([...rows].toSorted(), Object.keys(limits).toSorted());
  });

  it("names files that exist", () => {
    const named = [...page.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!);
    assert.ok(named.length > 50, `only ${named.length} files are named`);
    assert.deepEqual(
      named.filter((path) => !existsSync(new URL(path, root))),
      [],
    );
  });
});
