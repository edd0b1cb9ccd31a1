import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { withAttributes } from "../../docs/attribute-tables.ts";
import { publishedAttributes } from "../samples/published-attributes.ts";

const document = readFileSync(new URL("../../docs/interface.md", import.meta.url), "utf8");
const published = publishedAttributes();

describe("the attributes in docs/interface.md", () => {
  it("are those of the catalogue", () => {
    const sentence = "they are old. Write them anew with: node bin/breezeway --run docs/write-attributes.ts";
    assert.equal(document, withAttributes(document), sentence);
  });

  it("are the 519 that are published, each with its access, its type and its values", () => {
    const documented = new Map(tableRows().flatMap(expanded));
    assert.deepEqual([...documented.keys()].toSorted(), published.map(({ name }) => name).toSorted());
    for (const { name, isWritable, type, values } of published) {
      const row = documented.get(name)!;
      assert.deepEqual([row.access, row.type], [isWritable ? "**writable**" : "read-only", type], name);
      for (const value of values.match(/[a-z]+(-[a-z]+)*|\d+/g) ?? []) {
        if (!/^(any|or|string)$/.test(value)) assert.match(row.values, new RegExp(`\\b${value}\\b`), name);
      }
    }
  });

  it("can be found by their whole names", () => {
    const lines = new Set(document.split("\n"));
    assert.deepEqual(
      published.filter(({ name }) => !lines.has(name)),
      [],
    );
  });
});

interface Row {
  readonly pattern: string;
  readonly access: string;
  readonly type: string;
  readonly values: string;
  /** The largest X and Y, from the line above the table. */
  readonly last: Readonly<Record<string, number>>;
}

function tableRows(): readonly Row[] {
  let last: Record<string, number> = {};
  const rows: Row[] = [];
  for (const line of document.split("\n")) {
    if (line.startsWith("**")) {
      last = Object.fromEntries(
        [...line.matchAll(/([XY]) is 1 to (\d+)/g)].map(([, index, to]) => [index, Number(to)]),
      );
    }
    const [, pattern, access, type, values] =
      /^\| `([od]\.[^`]*)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|/.exec(line) ?? [];
    if (pattern) rows.push({ pattern, access: access!, type: type!, values: values!, last });
  }
  return rows;
}

/** Every name that a row stands for. */
function expanded(row: Row): readonly (readonly [name: string, row: Row])[] {
  const indexed = (names: readonly string[], index: string) =>
    names.flatMap((name) =>
      name.includes(`[${index}]`)
        ? Array.from({ length: row.last[index] ?? 0 }, (_, at) => name.replace(`[${index}]`, `[${at + 1}]`))
        : [name],
    );
  return indexed(indexed([row.pattern], "X"), "Y").map((name) => [name, row]);
}
