import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StreamEnd, StreamEndReason } from "../../../src/ecosystems/connector.ts";
import { pauseMs } from "../../../src/ecosystems/kit/back-off.ts";

describe("the pause before the next connection", () => {
  const most = () => 1;

  it("is at most a second after a stream that had brought an account", () => {
    assert.equal(pauseMs(ended("closed"), 0, most), 1_000);
    assert.equal(pauseMs(ended("silent"), 0, most), 1_000);
  });

  it("doubles with each failure up to a minute", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 5_000].map((failures) => pauseMs(ended("unreachable"), failures, most));
    assert.deepEqual(pauses, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it("grows to five minutes while the ecosystem refuses", () => {
    assert.equal(pauseMs(ended("refused"), 3, most), 8_000);
    assert.equal(pauseMs(ended("refused"), 20, most), 300_000);
    assert.equal(
      pauseMs(ended("unauthorized"), 0, () => 0),
      300_000,
    );
  });

  it("is spread over the whole range, so that streams that ended together don't come back together", () => {
    assert.equal(
      pauseMs(ended("closed"), 3, () => 0),
      0,
    );
    assert.equal(
      pauseMs(ended("closed"), 3, () => 0.25),
      2_000,
    );
  });
});

function ended(reason: StreamEndReason): StreamEnd {
  return { reason, detail: "" };
}
