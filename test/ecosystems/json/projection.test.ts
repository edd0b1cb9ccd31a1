import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Projection, project } from "../../../src/runtime/json/projection.ts";

const long = "x".repeat(16_385);

describe("a projection", () => {
  const message: Projection = {
    by: "type",
    cases: { event: { pick: { id: true, event: { whole: 9 } } }, 7: { pick: { seven: true } } },
    otherwise: { pick: { type: true } },
  };
  const rows: readonly (readonly [what: string, value: unknown, Projection, expected: unknown])[] = [
    ["keeps a single value", [1, null, "a", false], { each: true, limit: 9 }, [1, null, "a", false]],
    ["leaves out lists and objects", [1, [2], { a: 3 }], { each: true, limit: 9 }, [1]],
    ["leaves out a long text", long, true, undefined],
    ["keeps a whole value", { a: [1, null, { b: "c" }] }, { whole: 6 }, { a: [1, null, { b: "c" }] }],
    ["leaves out long texts of it", { a: [1, long, "short"], b: long, c: 1 }, { whole: 9 }, { a: [1, "short"], c: 1 }],
    [
      "reads nothing of a document with more values",
      { a: 1, b: [[], []] },
      { pick: { a: true, b: { whole: 2 } } },
      undefined,
    ],
    ["reads it with as many", { a: 1, b: [[], []] }, { pick: { a: true, b: { whole: 3 } } }, { a: 1, b: [[], []] }],
    [
      "tells an object from other values",
      [{ a: 1, b: 2 }, [3], 4],
      { each: { object: { pick: { a: true } }, single: true }, limit: 9 },
      [{ a: 1 }, 4],
    ],
    ["keeps a text up to a length", [long, "x".repeat(20_001), 1], { each: { text: 20_000 }, limit: 9 }, [long]],
    ["keeps the named members", { a: 1, b: 2, c: null }, { pick: { a: true, c: true, d: true } }, { a: 1, c: null }],
    ["keeps the first items", [1, 2, 3], { each: true, limit: 2 }, [1, 2]],
    [
      "leaves out items of another shape",
      [{ a: 1 }, 5, [1], null],
      { each: { pick: { a: true } }, limit: 9 },
      [{ a: 1 }],
    ],
    ["keeps the first members", { a: 1, b: 2 }, { members: true, limit: 1 }, { a: 1 }],
    ["leaves out members of another shape", { a: {}, b: 2 }, { members: { pick: {} }, limit: 9 }, { a: {} }],
    ["chooses by a member", { type: "event", id: 1, event: {}, more: 1 }, message, { id: 1, event: {} }],
    ["chooses by a number", { type: 7, seven: 1 }, message, { seven: 1 }],
    ["chooses the last resort", { type: "other", id: 1 }, message, { type: "other" }],
    ["chooses it without the member", { id: 1 }, message, {}],
    ["is no name of a prototype", { type: "toString" }, message, { type: "toString" }],
    [
      "reads no text of an object",
      { type: { toString: 1, valueOf: 1 }, id: 1 },
      { by: "type", cases: {}, otherwise: { pick: { id: true } } },
      { id: 1 },
    ],
    [
      "tells a list from a single value",
      [{ id: 1, type: "event" }],
      { list: { each: message, limit: 9 }, single: message },
      [{ id: 1 }],
    ],
    [
      "and the other way round",
      { id: 1, type: "event" },
      { list: { each: message, limit: 9 }, single: message },
      { id: 1 },
    ],
    ["is undefined for another shape", 5, { pick: { a: true } }, undefined],
    ["is undefined for a list instead of an object", [1], { members: true, limit: 9 }, undefined],
    ["is undefined for an object instead of a list", { 0: 1 }, { each: true, limit: 9 }, undefined],
  ];
  for (const [what, value, projection, expected] of rows) {
    it(what, () => assert.deepEqual(project(value, projection), expected));
  }

  it("keeps a member __proto__ a member", () => {
    const value = JSON.parse('{"__proto__":{"isAdmin":true},"a":1}');
    const members: readonly Projection[] = [true, { pick: { isAdmin: true } }];
    for (const each of members) {
      const projected = project(value, { members: each, limit: 9 }) as { isAdmin?: boolean };
      assert.equal(projected.isAdmin, undefined);
      assert.equal(Object.getPrototypeOf(projected), Object.prototype);
    }
    const inherited: Projection = { pick: Object.fromEntries([["constructor", true]]) };
    assert.deepEqual(project({}, inherited), {});
  });
});
