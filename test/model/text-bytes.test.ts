import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { textBytes } from "../../src/model/text-bytes.ts";

describe("the size of a text", () => {
  it("is counted in UTF-8, and blank takes nothing", () => {
    assert.equal(textBytes("Hall"), 4);
    assert.equal(textBytes("é🏠"), 6);
    assert.equal(textBytes("Hall é"), 7);
    assert.equal(textBytes(""), 0);
    assert.equal(textBytes(null), 0);
  });
});
