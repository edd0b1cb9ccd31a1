import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { StreamCoverage } from "../../src/federation/stream-coverage.ts";

describe("the coverage of a stream", () => {
  let elapsedMs: number;
  let coverage: StreamCoverage;

  beforeEach(() => {
    elapsedMs = 1_000;
    coverage = new StreamCoverage(() => elapsedMs);
    elapsedMs = 2_000.25;
  });

  it("counts whole milliseconds since its start, rounded up", () => {
    assert.equal(coverage.unprovenMs, 1_001);
  });

  it("counts from the last event of the stream", () => {
    coverage.streamSent();
    elapsedMs += 50;
    assert.equal(coverage.unprovenMs, 50);
  });

  it("counts from a read that found nothing new, as of when it was received", () => {
    coverage.readStored(1_900, false);
    elapsedMs = 2_100;
    assert.equal(coverage.unprovenMs, 200);
  });

  it("never counts from an earlier time than before", () => {
    coverage.streamSent();
    coverage.readStored(1_900, false);
    coverage.linkBecameLive(1_950);
    assert.equal(coverage.unprovenMs, 0);
  });

  it("takes no read as a proof after one that found changes, until the stream sends again", () => {
    coverage.readStored(1_500, true);
    coverage.readStored(1_600, false);
    assert.equal(coverage.unprovenMs, 1_001);
    coverage.streamSent();
    elapsedMs = 3_000;
    coverage.readStored(2_500, false);
    assert.equal(coverage.unprovenMs, 500);
  });

  it("counts from the account that made the link live", () => {
    coverage.linkBecameLive(1_750);
    elapsedMs = 2_000;
    assert.equal(coverage.unprovenMs, 250);
  });
});
