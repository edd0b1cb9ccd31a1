import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cleanText } from "../../src/model/clean-text.ts";

describe("text from an ecosystem", () => {
  it("stays unchanged when databases can store it", () => {
    for (const text of ["", "Hall", "ردهة", "🏠 Home", "line\nbreak", "é".repeat(8192)])
      assert.equal(cleanText(text), text);
  });

  it("has NUL and halves of surrogate pairs replaced by the replacement character", () => {
    assert.equal(cleanText("a\0b"), "a\uFFFDb");
    assert.equal(cleanText("a\uD83C"), "a\uFFFD");
    assert.equal(cleanText("\uDFE0b\0"), "\uFFFDb\uFFFD");
  });

  it("is cut at 8,192 units, never through a code point", () => {
    assert.equal(cleanText("x".repeat(10_000)), "x".repeat(8192));
    assert.equal(cleanText(`${"x".repeat(8191)}🏠🏠`), "x".repeat(8191));
    assert.equal(cleanText(`${"x".repeat(8190)}🏠🏠`), `${"x".repeat(8190)}🏠`);
    assert.equal(cleanText(`${"x".repeat(8191)}🏠x`), "x".repeat(8191));
    assert.equal(cleanText(`${"x".repeat(8191)}\uffffx`), `${"x".repeat(8191)}\uffff`);
  });

  it("is well formed, without NUL, bounded, and unchanged by a second cleaning", () => {
    const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
    const longText = fc.tuple(anyText, fc.nat(8200)).map(([text, length]) => "🏠".repeat(length / 2) + text);
    fc.assert(
      fc.property(fc.oneof(anyText, longText), (text) => {
        const clean = cleanText(text);
        assert.ok(clean.isWellFormed() && !clean.includes("\0") && clean.length <= 8192);
        assert.equal(cleanText(clean), clean);
      }),
    );
  });
});
