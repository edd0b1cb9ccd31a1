import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { type EndTurn, SampleTurns } from "../../src/federation/sample-turns.ts";
import { type ManualRuntime, manualRuntime } from "./manual-runtime.ts";

describe("turns of lanes that commit only samples", () => {
  let runtime: ManualRuntime;
  let turns: SampleTurns;
  /** The lanes that got their turn after waiting, in order, with the function that ends it. */
  let begun: { readonly lane: number; readonly end: EndTurn }[];
  const wait = (lane: number) => turns.wait((end) => void begun.push({ lane, end }));
  const lanes = () => begun.map(({ lane }) => lane);
  const takeAll = () => {
    const taken: EndTurn[] = [];
    for (let end = turns.take(); end; end = turns.take()) taken.push(end);
    return taken;
  };

  beforeEach(() => {
    runtime = manualRuntime();
    turns = new SampleTurns(runtime);
    begun = [];
  });

  it("are eight a second at once", async () => {
    for (const end of takeAll()) end();
    assert.equal(turns.take(), undefined);
    await runtime.advance(1_000);
    wait(1);
    assert.deepEqual(lanes(), [1]);
    assert.equal(takeAll().length, 7);
    await runtime.advance(1_000);
    assert.equal(runtime.timers, 0, "no lane waits, so there is no further round");
  });

  it("are given after one to two seconds otherwise, in the order in which the lanes came", async () => {
    takeAll();
    await runtime.advance(300);
    wait(1);
    await runtime.advance(600);
    wait(2);
    await runtime.advance(200);
    wait(3);
    await runtime.advance(899);
    assert.deepEqual(lanes(), []);
    await runtime.advance(1);
    assert.deepEqual(lanes(), [1, 2]);
    await runtime.advance(1_000);
    assert.deepEqual([lanes(), runtime.timers], [[1, 2, 3], 0]);
  });

  it("are sixteen at the same time; the next begins when one ends", async () => {
    for (const end of takeAll()) end();
    for (let lane = 1; lane <= 20; lane++) wait(lane);
    await runtime.advance(2_000);
    assert.equal(begun.length, 16);
    begun[5]!.end();
    begun[5]!.end();
    assert.deepEqual(lanes().slice(16), [17]);
    assert.deepEqual(takeAll(), [], "no lane overtakes those that wait");
    wait(21);
    for (const { end } of begun.slice(0, 4)) end();
    assert.deepEqual(lanes().slice(16), [17, 18, 19, 20], "the lane that came later waits for its round");
  });

  it("pass over a lane that no longer waits, whenever it leaves", async () => {
    for (const end of takeAll()) end();
    const cancels = [wait(1), wait(2)];
    for (let lane = 3; lane <= 18; lane++) wait(lane);
    cancels.push(wait(0));
    wait(19);
    cancels[0]!();
    await runtime.advance(1_000);
    cancels[1]!();
    await runtime.advance(1_000);
    assert.deepEqual([lanes().at(0), lanes().at(-1)], [3, 18]);
    cancels[2]!();
    begun[0]!.end();
    assert.equal(lanes().at(-1), 19);
  });

  it("given at once can still be left by a lane that does not wait", () => {
    const leave = wait(1);
    assert.deepEqual(lanes(), [1]);
    leave();
    begun[0]!.end();
  });

  it("leave no timer behind when they are stopped", () => {
    turns.take();
    assert.equal(runtime.timers, 1);
    turns.stop();
    assert.equal(runtime.timers, 0);
  });
});
