import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
  handshakeBounds,
  isBeyond,
  isForThread,
  type JsonBounds,
  largeBounds,
  messageBounds,
  parseUntrusted,
} from "../../../src/runtime/json/untrusted-json.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const list = (items: number, item = "1") => `[${Array(items).fill(item).join()}]`;

/** How often the text is handed to the engine. */
function countParses(t: TestContext, text: string, bounds: JsonBounds) {
  const parse = t.mock.method(JSON, "parse");
  const value = parseUntrusted(text, bounds);
  const parses = parse.mock.callCount();
  parse.mock.restore();
  return { value, parses };
}

describe("JSON from outside", () => {
  it("is not parsed if it has too many bytes", (t) => {
    for (const bounds of [handshakeBounds, messageBounds, largeBounds]) {
      const text = `"${"x".repeat(bounds.bytes)}"`;
      assert.deepEqual(countParses(t, text, bounds), { value: undefined, parses: 0 });
      assert.equal(parseUntrusted(text.replace("xx", ""), bounds), "x".repeat(bounds.bytes - 2));
    }
  });

  it("is not parsed if it has too many values", (t) => {
    for (const bounds of [handshakeBounds, messageBounds, largeBounds]) {
      assert.deepEqual(countParses(t, list(bounds.values + 1), bounds), { value: undefined, parses: 0 });
      assert.equal(countParses(t, list(bounds.values), bounds).parses, 1);
    }
    assert.deepEqual(countParses(t, list(5_000_000, "{}"), largeBounds), { value: undefined, parses: 0 });
    assert.deepEqual(countParses(t, list(6_000_000, "{}"), { ...largeBounds, bytes: 1e8 }), {
      value: undefined,
      parses: 0,
    });
  });

  it("is refused if it is too deep, and a long text is not parsed for that", (t) => {
    for (const bounds of [handshakeBounds, messageBounds, largeBounds]) {
      assert.notEqual(parseUntrusted(nested(bounds.depth), bounds), undefined);
      assert.equal(parseUntrusted(nested(bounds.depth + 1), bounds), undefined);
      assert.equal(parseUntrusted(`{"a":${nested(bounds.depth)}}`, bounds), undefined);
    }
    const long = `["${"x".repeat(50_000)}",${nested(32)}]`;
    assert.deepEqual(countParses(t, long, messageBounds), { value: undefined, parses: 0 });
  });

  it("is read whatever its texts and names hold", () => {
    const value = { "[[[[{{,,": ['"}],[', "\\"], __proto__: null, é: "{" };
    const text = JSON.stringify(value);
    assert.deepEqual(parseUntrusted(text), JSON.parse(text));
    const long = JSON.stringify([",[{".repeat(20_000), value]);
    assert.deepEqual(parseUntrusted(long), JSON.parse(long));
  });

  it("is undefined if it is no JSON, without a reason that quotes it", () => {
    for (const text of ["", "{", "nul", `{"token":"${"x".repeat(50_000)}"`])
      assert.equal(parseUntrusted(text), undefined);
  });

  it("may be for the thread only if it is long enough to have too many values here", () => {
    assert.equal(isForThread(list(19_999)), false);
    assert.equal(isForThread(list(20_001)), true);
    assert.equal(isBeyond(list(20_001), messageBounds), true);
    assert.equal(isBeyond(list(20_001), largeBounds), false);
  });
});
