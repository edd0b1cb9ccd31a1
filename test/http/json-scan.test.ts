import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { scanJson } from "../../src/runtime/json/json-scan.ts";

describe("a scan of JSON", () => {
  it("counts the names, the parts, the members and the depth of any value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        assert.deepEqual(scanJson(JSON.stringify(value, null, indent)), {
          names: namesIn(value),
          depth: depthOf(value),
          parts: partsOf(value),
          members: mostMembersIn(value),
        });
      }),
    );
  });

  it("counts a repeated name twice", () => {
    assert.equal(scanJson('{"a":1, "a" : "b:\\":c", "\\\\":2}').names, 3);
  });

  it("reads text that is not JSON to its end", () => {
    for (const text of ["", '"', '"\\', "[[[", "]]]", '{"a', "\u0000"]) assert.ok(scanJson(text).depth >= 0);
    assert.equal(scanJson("[".repeat(30_000)).depth, 30_000);
    assert.deepEqual(scanJson(`]]${'"a":,'.repeat(3)}`), { names: 3, depth: 0, parts: 3, members: 0 });
  });
});

function namesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, one) => sum + namesIn(one), 0);
  return Array.isArray(value) ? inside : inside + Object.keys(value).length;
}

function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value);
  return Math.max(1, inside.length) + inside.reduce<number>((sum, one) => sum + partsOf(one), 0);
}

function mostMembersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value);
  return Math.max(Array.isArray(value) ? 0 : inside.length, ...inside.map(mostMembersIn));
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
