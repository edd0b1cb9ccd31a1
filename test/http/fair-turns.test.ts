import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FairTurns } from "../../src/http/connection/fair-requests.ts";
import { limits } from "../../src/model/limits.ts";

describe("requests of one source that arrive at once", () => {
  it("are handled a few in each turn, in order, with those of other sources in between", async () => {
    const reached: string[] = [];
    const turns = new FairTurns((limit) => reached.push(limit));
    const order: string[] = [];
    const count = 3 * limits.requestsPerTurn;
    for (let i = 0; i < count; i++) turns.run("crowd", () => order.push(`crowd ${i}`));
    turns.run("neighbour", () => order.push("neighbour"));
    assert.equal(order.indexOf("neighbour"), limits.requestsPerTurn);
    const handledAfter: number[] = [];
    while (order.length < count + 1) {
      await new Promise((resolve) => setImmediate(resolve));
      handledAfter.push(order.length);
    }
    assert.deepEqual(handledAfter, [2 * limits.requestsPerTurn + 1, 3 * limits.requestsPerTurn + 1]);
    const crowd = order.filter((one) => one !== "neighbour");
    assert.deepEqual(
      crowd,
      Array.from({ length: count }, (_, i) => `crowd ${i}`),
    );
    assert.deepEqual(reached, ["requestsPerTurn"]);
  });

  it("are handled fewer in a turn in which a connection was accepted, since more connections may wait", async () => {
    const turns = new FairTurns(() => undefined);
    let handled = 0;
    const count = 2 * limits.requestsPerShortTurn + limits.requestsPerTurn;
    turns.connected();
    for (let i = 0; i < count; i++) turns.run("crowd", () => handled++);
    assert.equal(handled, limits.requestsPerShortTurn);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(handled, 2 * limits.requestsPerShortTurn);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(handled, count);
  });

  it("don't wait when they arrive one after the other", async () => {
    const turns = new FairTurns(() => assert.fail("no limit is reached"));
    for (let i = 0; i < 5 * limits.requestsPerTurn; i++) {
      let isHandled = false;
      turns.run("one by one", () => {
        isHandled = true;
      });
      assert.ok(isHandled);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
