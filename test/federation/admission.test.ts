import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConnectionRateLimiter } from "../../src/federation/admission.ts";
import { Dice } from "../simulate/dice.ts";
import { flushPromises, type ManualRuntime, manualRuntime } from "./manual-runtime.ts";

describe("admission control for connections", () => {
  const forever = new AbortController().signal;

  function randomRuntime(): ManualRuntime {
    const dice = new Dice(7);
    return manualRuntime({ random: () => dice.next() });
  }

  /** Requests `count` connections at once; returns the times of admission on the monotonic clock. */
  function ask(admission: ConnectionRateLimiter, runtime: ManualRuntime, count: number): number[] {
    const admittedMs: number[] = [];
    for (let i = 0; i < count; i++) {
      void admission.admit(forever).then(() => admittedMs.push(runtime.elapsedMs()));
    }
    return admittedMs;
  }

  it("admits 10,000 simultaneous requests within 25 seconds, never more than about 400 in any second", async () => {
    const runtime = randomRuntime();
    const admittedMs = ask(new ConnectionRateLimiter(runtime), runtime, 10_000);
    await runtime.advance(25_100);
    assert.equal(admittedMs.length, 10_000);
    assert.ok(admittedMs.at(-1)! > 24_000, "they were spread");
    let begin = 0;
    admittedMs.forEach((ms, end) => {
      while (ms - admittedMs[begin]! >= 1_000) begin += 1;
      assert.ok(end - begin + 1 <= 406, `${end - begin + 1} in the second before ${ms} ms`);
    });
  });

  it("does not delay a single connection", async () => {
    const runtime = randomRuntime();
    const admission = new ConnectionRateLimiter(runtime);
    for (let i = 0; i < 20; i++) {
      await admission.admit(forever);
      assert.equal(runtime.timers, 0);
      await runtime.advance(1_000);
    }
  });

  it("does not delay the first connection after a rush is over", async () => {
    const runtime = randomRuntime();
    const admission = new ConnectionRateLimiter(runtime);
    ask(admission, runtime, 500);
    await runtime.advance(3_000);
    const late = ask(admission, runtime, 1);
    await flushPromises();
    assert.deepEqual(late, [3_000]);
  });

  it("spreads a rush after an hour without connections", async () => {
    const runtime = randomRuntime();
    const admission = new ConnectionRateLimiter(runtime);
    await admission.admit(forever);
    await runtime.advance(3_600_000);
    const admittedMs = ask(admission, runtime, 1_000);
    await runtime.advance(1_000);
    assert.ok(admittedMs.length >= 395 && admittedMs.length <= 406, `${admittedMs.length} in the first second`);
  });

  it("queues a connection that is requested during a rush behind the others", async () => {
    const runtime = randomRuntime();
    const admission = new ConnectionRateLimiter(runtime);
    ask(admission, runtime, 1_000);
    await runtime.advance(1_000);
    const late = ask(admission, runtime, 1);
    await runtime.advance(1_600);
    assert.ok(late[0]! >= 2_490, `admitted after ${late[0]} ms`);
  });

  for (const [direction, ms] of [
    ["back", -86_400_000],
    ["forward", 86_400_000],
  ] as const) {
    it(`keeps its rate when the clock is set ${direction}`, async () => {
      const runtime = randomRuntime();
      const admission = new ConnectionRateLimiter(runtime);
      const before = ask(admission, runtime, 500);
      runtime.jump(ms);
      const after = ask(admission, runtime, 500);
      await runtime.advance(1_250);
      assert.ok(before.length >= 499 && after.length <= 5, `${before.length} and ${after.length} after 1.25 s`);
      await runtime.advance(1_350);
      assert.equal(after.length, 500);
    });
  }

  it("returns at once when the signal aborts", async () => {
    const runtime = randomRuntime();
    const admission = new ConnectionRateLimiter(runtime);
    ask(admission, runtime, 100);
    const stopping = new AbortController();
    const waiting = admission.admit(stopping.signal);
    const timers = runtime.timers;
    stopping.abort();
    await waiting;
    assert.equal(runtime.timers, timers - 1);
    await admission.admit(stopping.signal);
    assert.equal(runtime.elapsedMs(), 0);
  });
});
