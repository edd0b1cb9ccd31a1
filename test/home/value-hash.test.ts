import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addValue, digestOf, newHash } from "../../src/home/value-hash.ts";

function hashOf(...values: readonly unknown[]): number {
  const hash = newHash();
  for (const value of values) addValue(hash, value);
  return digestOf(hash);
}

describe("the hash of values", () => {
  it("differs for values of other types, and for the same parts in another arrangement", () => {
    const sequences = [
      [],
      [""],
      [0],
      [[]],
      [null],
      [undefined],
      [true],
      [false],
      ["a"],
      ["b"],
      ["ab"],
      ["a", "b"],
      ["ab", "c"],
      ["a", "bc"],
      [["a"]],
      [["a", "b"]],
      [["a"], "b"],
      [1],
      [-1],
      [0.0001],
      [2 ** 32 / 10_000],
      [2 ** 33 / 10_000],
    ];
    const hashes = new Map(sequences.map((values) => [hashOf(...values), values]));
    assert.equal(hashes.size, sequences.length);
  });

  it("ignores differences below a ten-thousandth", () => {
    assert.equal(hashOf(0.1 + 0.2), hashOf(0.3));
    assert.notEqual(hashOf(0.3001), hashOf(0.3));
  });

  it("is the same in every version, because prints of things are stored", () => {
    assert.equal(hashOf("Hall", 20.5, null, ["heat", "cool"], true), 2_912_019_162_692_201);
    assert.equal(hashOf(2 ** 45 + 0.5, -1, false, undefined), 3_189_438_197_296_049);
  });
});
