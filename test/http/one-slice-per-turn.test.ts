import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OneSlicePerTurn } from "../../src/http/answer/one-slice-per-turn.ts";

describe("slices of several callers", () => {
  it("are made in turns of the callers, however many answers one of them has opened", async () => {
    const turns = new OneSlicePerTurn();
    const resumed: string[] = [];
    const waiting = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map(async (name) => {
      await turns.next(name[0]!);
      resumed.push(name);
    });
    await Promise.all(waiting);
    assert.deepEqual(resumed, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  it("are made one in each turn of the event loop, and leave no caller behind", async () => {
    const turns = new OneSlicePerTurn();
    let resumed = 0;
    for (const caller of ["a", "a", "b"]) void turns.next(caller).then(() => resumed++);
    for (const expected of [1, 2, 3]) {
      await new Promise(setImmediate);
      assert.equal(resumed, expected);
    }
    assert.equal(turns.size, 0);
  });
});
