import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blindTimeline } from "../../src/outlets/console/pages/blind-timeline.ts";

const nowMs = Date.parse("2026-03-02T12:00:00Z");
const hour = 3_600_000;

const timeline = (state: string, confirmedTime: number, intervals: Parameters<typeof blindTimeline>[0] = []) =>
  blindTimeline(intervals, { state, confirmedTime }, nowMs).text;

/** The beginnings and lengths of the unknown times, in hours of the last 24. */
const unknownHours = (page: string) =>
  [...page.matchAll(/class="unknown" x="([\d.]+)" y="0" width="([\d.]+)"/g)].map(([, x, width]) => [
    Number(x) / 60,
    Number(width) / 60,
  ]);

describe("the timeline of a home", () => {
  it("is seen up to now while the link is live", () => {
    const page = timeline("live", nowMs - 60_000);
    assert.deepEqual(unknownHours(page), []);
    assert.match(page, /The home was seen all the time\./);
  });

  for (const state of ["stale", "waiting", "connecting", "needs_reauth", "not_followed"]) {
    it(`is unknown since the last confirmation when the link is ${state}`, () => {
      const page = timeline(state, nowMs - 6 * hour);
      assert.deepEqual(unknownHours(page), [[18, 6]]);
      assert.doesNotMatch(page, /all the time/);
      assert.match(page, /The home was seen until 2026-03-02 06:00 UTC\. What was since then is not known\./);
    });
  }

  it("is unknown as a whole when nothing was confirmed in it", () => {
    for (const confirmedTime of [0, nowMs - 30 * hour]) {
      const page = timeline("stale", confirmedTime);
      assert.deepEqual(unknownHours(page), [[0, 24]]);
      assert.match(page, /Not known: the home was not confirmed in this time\./);
    }
  });

  it("counts blind intervals beside the unknown time", () => {
    const blind = { from: nowMs - 3 * hour, to: nowMs - 2 * hour, cause: "no stream" };
    const page = timeline("waiting", nowMs - hour, [blind]);
    assert.deepEqual(unknownHours(page), [[23, 1]]);
    assert.match(page, /1 blind interval\. The home was last confirmed at 2026-03-02 11:00 UTC\./);
  });
});
