import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { intersection, isEmpty, isNearRange, snap } from "../../src/home/value-range.ts";

const anyHundredths = fc.integer({ min: -2_000, max: 4_000 }).map((hundredths) => hundredths / 100);
const anyRange = fc.record({
  min: anyHundredths,
  max: anyHundredths,
  step: fc.constantFrom(0.01, 0.1, 0.5, 5 / 9, 1, 100 / 3),
});

describe("a value that is snapped into a range", () => {
  it("is the nearest of all values that the range has", () => {
    fc.assert(
      fc.property(anyRange, anyHundredths, (range, value) => {
        fc.pre(range.min <= range.max);
        const isWhole = Math.abs(range.step * 100 - Math.round(range.step * 100)) < 1e-6;
        const count = Math.floor((range.max - range.min) / range.step + (isWhole ? 0 : 0.01 / range.step) + 1e-6);
        const nearest = Math.min(count, Math.max(0, Math.round((value - range.min) / range.step)));
        const distance = Math.abs(Math.min(range.max, range.min + nearest * range.step) - value);
        const snapped = snap(value, range);
        assert.ok(snapped >= range.min && snapped <= range.max + 1e-6, `${snapped}`);
        assert.ok(Math.abs(Math.abs(snapped - value) - distance) < 1e-4, `${snapped} for ${value}`);
      }),
    );
  });

  it("stays where it is", () => {
    fc.assert(
      fc.property(anyRange, anyHundredths, (range, value) => {
        const snapped = snap(value, range);
        assert.equal(snap(snapped, range), snapped);
      }),
    );
  });

  it("reaches the maximum of a range in whole degrees Fahrenheit, whose bounds are rounded", () => {
    const celsius = (fahrenheit: number) => Math.round(((fahrenheit - 32) * 500) / 9) / 100;
    for (let least = 40; least < 60; least += 1) {
      for (let most = 75; most <= 95; most += 1) {
        const range = { min: celsius(least), max: celsius(most), step: 5 / 9 };
        const snapped = snap(celsius(most), range);
        assert.ok(snapped <= range.max, `${least} to ${most} °F: ${snapped}`);
        assert.equal(Math.round((snapped * 9) / 5 + 32), most, `${least} to ${most} °F`);
      }
    }
  });

  it("is the minimum where the range has no other value", () => {
    assert.equal(snap(20, { min: 10, max: 10.4, step: 0.5 }), 10);
    assert.equal(snap(20, { min: 10, max: 9, step: 0.5 }), 10);
  });
});

describe("two ranges", () => {
  it("have in common what is near both", () => {
    fc.assert(
      fc.property(anyRange, anyRange, anyHundredths, (range, { min, max }, value) => {
        const other = { min, max, step: range.step };
        const common = intersection(range, other);
        fc.pre(!isEmpty(common));
        assert.equal(isNearRange(value, common), isNearRange(value, range) && isNearRange(value, other));
      }),
    );
  });

  it("have nothing in common when one ends below the other", () => {
    assert.ok(isEmpty(intersection({ min: 10, max: 15, step: 1 }, { min: 16, max: 20, step: 1 })));
    assert.ok(!isEmpty(intersection({ min: 10, max: 16, step: 1 }, { min: 16, max: 20, step: 1 })));
    assert.ok(!isEmpty({ min: null, max: -1, step: 1 }));
    assert.ok(!isEmpty({ min: 1, max: null, step: 1 }));
  });

  it("accept no value when they are narrowly apart", () => {
    assert.ok(!isNearRange(15, intersection({ min: 10, max: 15, step: 1 }, { min: 15.1, max: 20, step: 1 })));
  });

  it("are limited by the one that tells its limit", () => {
    const open = { min: null, max: null, step: 0.5 };
    assert.deepEqual(intersection(open, { min: 1, max: null, step: 1 }), { min: 1, max: null, step: 0.5 });
    assert.deepEqual(intersection({ min: null, max: 4, step: 1 }, open), { min: null, max: 4, step: 1 });
  });
});
