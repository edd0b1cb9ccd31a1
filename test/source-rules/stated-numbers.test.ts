import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { readNumber, statements } from "./stated-numbers.ts";

const root = new URL("../../", import.meta.url).pathname;
const pages = ["README.md", "docs/**/*.md", "sdk/README.md", "examples/**/README.md"];
const descriptions = ["src/outlets/**/*.ts", "src/http/documentation/**/*.ts", "src/cli/administration/calls/*.ts"];
const texts = globSync([...pages, ...descriptions], { cwd: root, exclude: (name) => name === "node_modules" }).map(
  (file) => [file, readFileSync(root + file, "utf8")] as const,
);

describe("documents and descriptions of calls", () => {
  it("state the limits of the code", () => {
    for (const [sentence, ...values] of statements) {
      let matches = 0;
      for (const [file, text] of texts) {
        for (const [found, ...numbers] of text.matchAll(sentence)) {
          assert.deepEqual(numbers.map(readNumber), values, `${file}: ${found}`);
          matches += 1;
        }
      }
      assert.ok(matches > 0, `no text has the sentence ${sentence}`);
    }
  });
});
