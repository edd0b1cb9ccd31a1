import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type LimitName, limits } from "../../src/model/limits.ts";
import { readNumber } from "./stated-numbers.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/limits.md", root), "utf8");

describe("docs/limits.md", () => {
  it("has a row for each limit, and for no other", () => {
    const cells = [...page.matchAll(/^\| (`[a-z]\w+`(?:, `[a-z]\w+`)*) \|/gm)].map(([, cell]) => cell!);
    const rows = new Set(cells.flatMap((cell) => cell.replaceAll("`", "").split(", ")));
    assert.deepEqual([...rows].toSorted(), Object.keys(limits).toSorted());
  });

  it("has the number of each limit in its row", () => {
    for (const [, cell, value] of page.matchAll(/^\| (`[a-z]\w+`(?:, `[a-z]\w+`)*) \| ([^|]+) \|/gm)) {
      if (value!.startsWith("As above")) continue;
      const numbers = [...value!.matchAll(/\d[\d,]*/g)].map(([text]) => readNumber(text));
      for (const name of cell!.replaceAll("`", "").split(", ") as LimitName[]) {
        assert.ok(numbers.includes(limits[name]), `${name} is ${limits[name]}, and its row says: ${value}`);
      }
    }
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
