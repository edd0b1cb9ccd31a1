import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attemptsIn, inAttempts, WorkNeeded, type WorkOptions } from "../../src/devices/attempts.ts";
import { limits } from "../../src/model/limits.ts";
import type { Priority, Store } from "../../src/store/seam.ts";

/** A store that runs each body so often in one transaction, and notes how the transactions end. */
function made(bodiesPerTransaction = 1) {
  const ends: string[] = [];
  const priorities: (Priority | undefined)[] = [];
  const store = {
    async transaction(body: (tx: object) => Promise<unknown>, priority?: Priority) {
      priorities.push(priority);
      const tx = {};
      try {
        for (let nth = 1; nth < bodiesPerTransaction; nth++) await body(tx).catch(() => undefined);
        const result = await body(tx);
        ends.push("committed");
        return result;
      } catch (error) {
        ends.push("rolled back");
        throw error;
      }
    },
  } as unknown as Store<object>;
  const run = <Result>(body: (tx: object) => Promise<Result>, options: WorkOptions = {}, priority?: Priority) =>
    inAttempts(store, body, priority, options);
  return { run, ends, priorities };
}

describe("a transaction whose reactions need work outside of it", () => {
  it("is rolled back for the work, and runs again behind it", async () => {
    const { run, ends, priorities } = made();
    const order: string[] = [];
    let hasAnswer = false;
    const work = async () => {
      order.push(`work after ${ends.join()}`);
      hasAnswer = true;
    };
    const result = await run(
      async (tx) => {
        order.push("body");
        if (!hasAnswer) attemptsIn(tx)!.runAgainAfter(work);
        return "done";
      },
      {},
      { urgent: true },
    );
    assert.deepEqual([result, ends], ["done", ["rolled back", "committed"]]);
    assert.deepEqual(order, ["body", "work after rolled back", "body"]);
    assert.deepEqual(priorities, [{ urgent: true }, { urgent: true }]);
  });

  it("does each work once, however often it is asked for, and counts the requests of the present attempt", async () => {
    const { run, ends } = made(2);
    let done = 0;
    const counts: number[] = [];
    const work = async () => {
      done += 1;
    };
    await run(async (tx) => {
      const attempts = attemptsIn(tx)!;
      assert.deepEqual([attempts.isIncomplete, attempts.workRequests], [false, 0], "a body begins anew");
      if (done === 0) {
        attempts.runAgainAfter(work);
        attempts.runAgainAfter(work);
        assert.ok(attempts.isIncomplete);
      }
      counts.push(attempts.workRequests);
    });
    assert.deepEqual([done, counts, ends], [1, [2, 2, 0, 0], ["rolled back", "committed"]]);
  });

  it("may fail in vain, and not in an attempt that is complete", async () => {
    const { run, ends } = made();
    let attempt = 0;
    const failing = run(async (tx) => {
      attempt += 1;
      if (attempt === 1) attemptsIn(tx)!.runAgainAfter(async () => undefined);
      throw new Error(`broken ${attempt}`);
    });
    await assert.rejects(failing, /broken 2/);
    assert.deepEqual(ends, ["rolled back", "rolled back"]);
    const work = async () => Promise.reject(new Error("no answer"));
    await assert.rejects(
      run(async (tx) => attemptsIn(tx)!.runAgainAfter(work)),
      /no answer/,
    );
  });

  it("throws WorkNeeded for a caller that does not wait", async () => {
    const { run, ends } = made();
    let done = 0;
    const work = async () => {
      done += 1;
    };
    const options = { mayWait: false, mayRefuse: true };
    const seen: WorkOptions[] = [];
    const waiting = run(async (tx) => {
      const attempts = attemptsIn(tx)!;
      seen.push(attempts.options);
      attempts.runAgainAfter(work);
    }, options);
    await assert.rejects(waiting, WorkNeeded);
    assert.deepEqual([done, ends, seen], [0, ["rolled back"], [options]]);
    assert.equal(await run(async () => "without work", options), "without work");
  });

  it("must decide without the work after two attempts for each hop of the longest chain, and two more each", async () => {
    const { run, ends } = made();
    await run(async (tx) => {
      const attempts = attemptsIn(tx)!;
      if (attempts.mayRunAgain) attempts.runAgainAfter(async () => undefined);
    });
    assert.equal(ends.length, 2 * (limits.alertHopsPerCause + 2) + 1);
  });
});
