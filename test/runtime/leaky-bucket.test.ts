import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LeakyBucket } from "../../src/runtime/leaky-bucket.ts";

const rate = { perSecond: 1_000, atOnce: 4_000 };

describe("a leaky bucket", () => {
  it("allows a burst, and then as much as the rate allows", () => {
    const bucket = new LeakyBucket(rate);
    assert.equal(bucket.add(4_000, 0), 0);
    assert.equal(bucket.add(500, 0), 500);
    assert.equal(bucket.add(0, 500), 0);
    assert.equal(bucket.add(1_000, 1_500), 0);
    assert.equal(bucket.add(1, 1_500), 1);
  });

  it("allows no more than one burst after a quiet time", () => {
    const bucket = new LeakyBucket(rate);
    bucket.add(4_000, 0);
    assert.equal(bucket.add(5_000, 3_600_000), 1_000);
  });

  it("tells how much of the burst is used up", () => {
    const bucket = new LeakyBucket(rate);
    assert.equal(bucket.fill(0), 0);
    bucket.add(3_000, 0);
    assert.equal(bucket.fill(1_000), 0.5);
  });
});
