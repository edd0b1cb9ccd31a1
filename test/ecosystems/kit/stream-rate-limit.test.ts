import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StreamRateLimit } from "../../../src/ecosystems/kit/stream-rate-limit.ts";
import { limits } from "../../../src/model/limits.ts";

const { streamBytesAtOnce: atOnce, streamBytesPerSecond: perSecond } = limits;

describe("the rate limit of a stream", () => {
  it("allows a burst, and then as much as the rate allows", () => {
    const pace = new StreamRateLimit();
    assert.equal(pace.read(atOnce, 0), 0);
    assert.equal(pace.read(perSecond / 2, 0), 500);
    assert.equal(pace.read(0, 500), 0);
    assert.equal(pace.read(perSecond, 1_500), 0);
    assert.equal(pace.read(1, 1_500) > 0, true);
  });

  it("allows no more than one burst after a quiet time", () => {
    const pace = new StreamRateLimit();
    pace.read(atOnce, 0);
    assert.equal(pace.read(atOnce + perSecond, 3_600_000), 1_000);
  });
});
