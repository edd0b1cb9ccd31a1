import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { plants } from "../simulate/plants.ts";

const source = new URL("../../src/", import.meta.url);

describe("a mistake that is planted into the simulation", () => {
  it("names the code as it is now", () => {
    const stale: string[] = [];
    for (const { name, edits } of plants) {
      const texts = new Map<string, string>();
      for (const { file, find, replace } of edits) {
        const text = texts.get(file) ?? readFileSync(new URL(file, source), "utf8");
        const parts = text.split(find);
        if (parts.length !== 2) stale.push(`${name}: found ${parts.length - 1} times in ${file}: ${find}`);
        texts.set(file, parts.join(replace));
      }
    }
    assert.deepEqual(stale, []);
  });
});
