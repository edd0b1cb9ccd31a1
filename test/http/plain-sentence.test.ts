import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainSentence } from "../../src/http/answer/plain-sentence.ts";

describe("the sentence of an error", () => {
  it("stays as it is, when it is plain", () => {
    const sentence = "There is no tenant “Großmann & Söhne”. See all with: breezeway tenant list";
    assert.equal(plainSentence(sentence), sentence);
  });

  it("has no character that changes a terminal or the direction of text", () => {
    assert.equal(
      plainSentence("no \r\n\u001b[31m\u202e\ufeff\ud800 name"),
      "no \uFFFD\uFFFD\uFFFD[31m\uFFFD\uFFFD\uFFFD name",
    );
  });

  it("is cut, and never within a character", () => {
    const cut = plainSentence("🔥".repeat(1_000));
    assert.ok(cut.length <= 400 && cut.endsWith("…") && cut.isWellFormed());
    assert.equal(plainSentence("x".repeat(400)).length, 400);
  });
});
