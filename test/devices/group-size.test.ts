import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GroupSize } from "../../src/devices/group-size.ts";

describe("the size of a group of background work", () => {
  for (const [isShared, longestMs] of [
    [false, 5],
    [true, 50],
  ] as const) {
    it(`doubles while it takes less than half of ${longestMs} ms, and halves beyond them, within its bounds`, () => {
      const size = new GroupSize({ isShared }, { least: 10, most: 50 });
      const after = (...tookMs: number[]) => {
        for (const ms of tookMs) size.took(ms);
        return size.count;
      };
      assert.equal(size.longestMs, longestMs);
      assert.equal(size.count, 10);
      assert.equal(after(0), 20);
      assert.equal(after(longestMs / 2, longestMs), 20);
      assert.equal(after(0, 0), 50);
      assert.equal(after(longestMs + 1), 25);
      assert.equal(after(longestMs + 1), 12);
      assert.equal(after(longestMs + 1, longestMs + 1), 10);
    });
  }
});
