import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReadingPace } from "../../src/ecosystem/nest/reading-pace.ts";
import { limits } from "../../src/model/limits.ts";

const { streamBytesAtOnce: atOnce, streamBytesPerSecond: perSecond } = limits;

describe("the pace at which a stream is read", () => {
  it("lets a burst through, and then as much as the rate allows", () => {
    const pace = new ReadingPace();
    assert.equal(pace.read(atOnce, 0), 0);
    assert.equal(pace.read(perSecond / 2, 0), 500);
    assert.equal(pace.read(0, 500), 0);
    assert.equal(pace.read(perSecond, 1_500), 0);
    assert.equal(pace.read(1, 1_500) > 0, true);
  });

  it("saves up no more than one burst in a quiet time", () => {
    const pace = new ReadingPace();
    pace.read(atOnce, 0);
    assert.equal(pace.read(atOnce + perSecond, 3_600_000), 1_000);
  });
});
