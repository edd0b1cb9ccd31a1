import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { type EndTurn, SampleTurns } from "../../src/federation/sample-turns.ts";
import { type MovedRuntime, movedRuntime } from "./moved-runtime.ts";

describe("turns of lanes that commit only samples", () => {
  let runtime: MovedRuntime;
  let turns: SampleTurns;
  /** The lanes that got their turn, in order, with the function that ends it. */
  let begun: { readonly lane: number; readonly end: EndTurn }[];
  const wait = (lane: number) => turns.wait((end) => void begun.push({ lane, end }));
  const lanes = () => begun.map(({ lane }) => lane);
  const takeAll = () => {
    const taken: EndTurn[] = [];
    for (let end = turns.take(); end; end = turns.take()) taken.push(end);
    return taken;
  };

  beforeEach(() => {
    runtime = movedRuntime();
    turns = new SampleTurns(runtime);
    begun = [];
  });

  it("are given at once while the store is fast", () => {
    for (let commit = 0; commit < 100; commit++) {
      const end = turns.take();
      assert.ok(end);
      end();
    }
    assert.equal(runtime.timers, 0);
  });

  it("are at most eight at the same time; the others wait in order, and none overtakes them", async () => {
    const taken = takeAll();
    assert.equal(taken.length, 8);
    for (const lane of [1, 2, 3]) wait(lane);
    assert.deepEqual(lanes(), []);
    taken[0]!();
    assert.deepEqual(lanes(), [1]);
    assert.equal(turns.take(), undefined);
    begun[0]!.end();
    assert.deepEqual(lanes(), [1, 2]);
  });

  it("rest four times as long as the commit took, a second at most", async () => {
    for (const [tookMs, restMs] of [
      [10, 40],
      [3_000, 1_000],
    ] as const) {
      const taken = takeAll();
      assert.equal(taken.length, 8);
      await runtime.advance(tookMs);
      for (const end of taken) end();
      await runtime.advance(restMs - 1);
      assert.equal(turns.take(), undefined);
      await runtime.advance(1);
      assert.equal(runtime.timers, 0);
    }
    assert.equal(takeAll().length, 8);
  });

  it("do not rest while a lane has waited for more than five seconds", async () => {
    const taken = takeAll();
    wait(1);
    wait(2);
    await runtime.advance(5_001);
    taken[0]!();
    assert.deepEqual(lanes(), [1]);
    taken[1]!();
    assert.deepEqual(lanes(), [1, 2]);
    taken[2]!();
    assert.equal(runtime.timers, 1, "no lane waits any more, so this turn rests");
  });

  it("end once, and pass over a lane that no longer waits", async () => {
    const taken = takeAll();
    const cancel = wait(1);
    wait(2);
    cancel();
    taken[0]!();
    taken[0]!();
    assert.deepEqual(lanes(), [2]);
    assert.equal(turns.take(), undefined);
  });

  it("leave no timer behind when they are stopped", async () => {
    const end = turns.take()!;
    await runtime.advance(10);
    end();
    assert.equal(runtime.timers, 1);
    turns.stop();
    assert.equal(runtime.timers, 0);
  });
});
