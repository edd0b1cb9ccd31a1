import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { settings } from "../../src/config/config.ts";
import { configurationPage } from "../../src/config/configuration-page.ts";

describe("docs/configuration.md", () => {
  const file = new URL("../../docs/configuration.md", import.meta.url);

  it("is what the settings' table says", () => {
    const sentence = "it is old. Write it anew with: node bin/breezeway --run docs/write-configuration.ts";
    assert.equal(readFileSync(file, "utf8"), configurationPage(), sentence);
  });

  it("names every setting with its flag, its default and its meaning, and the twin of each secret", () => {
    const page = readFileSync(file, "utf8");
    for (const { variable, flag, defaultText, meaning, isSecret } of Object.values(settings)) {
      const row = page.split("\n").find((line) => line.startsWith(`| \`${variable}\``));
      assert.ok(row, variable);
      for (const text of [defaultText, meaning, isSecret ? `${variable}_FILE` : `--${flag}`])
        assert.ok(row.includes(text), text);
    }
  });
});
