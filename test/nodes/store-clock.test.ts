import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreClock } from "../../src/nodes/store-clock.ts";

const hourMs = 3_600_000;

/** A store clock with an offset to this node's time, and readings with given travel times. */
function clockOf(store: { aheadMs: number }) {
  let elapsedMs = 0;
  let wallMs = 0;
  const clock = new StoreClock({ elapsedMs: () => elapsedMs, nowMs: () => wallMs + elapsedMs });
  return {
    clock,
    pass: (ms: number) => {
      elapsedMs += ms;
    },
    read: (thereMs: number, backMs: number) => {
      const sentMs = elapsedMs;
      elapsedMs += thereMs;
      const storeMs = elapsedMs + store.aheadMs;
      elapsedMs += backMs;
      clock.update({ sentMs, storeMs, receivedMs: elapsedMs });
    },
    /** How far the store's clock was set, as a reading with these travel times shows it. */
    step: (thereMs: number, backMs: number) => {
      const sentMs = elapsedMs;
      elapsedMs += thereMs + backMs;
      return clock.stepMs({ sentMs, storeMs: sentMs + thereMs + store.aheadMs, receivedMs: elapsedMs });
    },
    /** The machine's wall clock jumps. */
    jump: (ms: number) => {
      wallMs += ms;
    },
    /** By how much the estimate is behind the store's clock, and by how much it may be. */
    behind: () => [elapsedMs + store.aheadMs - clock.nowMs!, clock.uncertaintyMs],
  };
}

describe("a node's estimate of the store's clock", () => {
  it("does not exist before the first reading", () => {
    assert.equal(clockOf({ aheadMs: 0 }).clock.nowMs, undefined);
  });

  it("advances between two readings, whatever the offset to the node's own clock", () => {
    for (const aheadMs of [-hourMs, 0, hourMs]) {
      const { read, pass, behind } = clockOf({ aheadMs });
      read(0, 0);
      pass(hourMs);
      assert.deepEqual(behind(), [0, 0]);
    }
  });

  it("is as precise as the fastest reading, not the latest", () => {
    const { read, behind } = clockOf({ aheadMs: hourMs });
    read(3, 1);
    assert.deepEqual(behind(), [1, 4]);
    read(3_000, 5_000);
    assert.deepEqual(behind(), [1, 4]);
    read(1, 2);
    assert.deepEqual(behind(), [1, 2]);
  });

  it("is never ahead of the store's clock, nor further behind than `uncertaintyMs`, however the travel time was split", () => {
    for (const [thereMs, backMs] of [
      [800, 0],
      [0, 800],
      [300, 500],
    ] as const) {
      const { read, behind } = clockOf({ aheadMs: -hourMs });
      read(thereMs, backMs);
      assert.deepEqual(behind(), [backMs, 800]);
    }
  });

  it("follows at once when the store's clock was set, forward or back", () => {
    const store = { aheadMs: 0 };
    const { read, behind } = clockOf(store);
    read(1, 1);
    for (const aheadMs of [hourMs, -hourMs, -hourMs + 5_000]) {
      store.aheadMs = aheadMs;
      read(1, 1);
      assert.deepEqual(behind(), [1, 2]);
    }
  });

  it("counts a sleep of the machine, in which its monotonic clock stands still", () => {
    const store = { aheadMs: 5_000 };
    const { read, pass, jump, behind } = clockOf(store);
    read(1, 1);
    jump(hourMs);
    store.aheadMs += hourMs;
    assert.deepEqual(behind(), [1, 2]);
    pass(1_000);
    assert.deepEqual(behind(), [1, 2]);
    read(1, 1);
    assert.deepEqual(behind(), [1, 2]);
    pass(1_000);
    assert.deepEqual(behind(), [1, 2]);
  });

  it("does not follow the machine's wall clock when that is set back, nor when it drifts", () => {
    for (const ms of [-hourMs, 499]) {
      const { read, jump, behind } = clockOf({ aheadMs: 5_000 });
      read(1, 1);
      jump(ms);
      assert.deepEqual(behind(), [1, 2]);
    }
  });

  it("shows how far the store's clock was set at least", () => {
    const store = { aheadMs: 0 };
    const { read, pass, step } = clockOf(store);
    assert.equal(step(1, 1), 0, "before the first reading");
    read(1, 1);
    pass(hourMs);
    assert.equal(step(800, 500), 0);
    store.aheadMs = hourMs;
    assert.equal(step(0, 0), hourMs - 1);
    assert.equal(step(200, 300), hourMs - 301);
    store.aheadMs = -hourMs;
    assert.equal(step(0, 0), hourMs - 1);
    assert.equal(step(200, 300), hourMs - 201);
    read(1, 1);
    assert.equal(step(1, 1), 0);
  });
});
