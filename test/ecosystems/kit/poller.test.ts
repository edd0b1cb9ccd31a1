import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { StreamEnd } from "../../../src/ecosystems/connector.ts";
import { followByReading, type PollerParts } from "../../../src/ecosystems/kit/poller.ts";
import type { Home } from "../../../src/home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../../src/model/errors.ts";
import { home } from "../../federation/made-homes.ts";
import { flushPromises, type ManualRuntime, manualRuntime } from "../../federation/manual-runtime.ts";

const everyMs = 60_000;
const answerLimitMs = 5_000;

describe("a home that can only be read", () => {
  let runtime: ManualRuntime;
  let heard: (Home | "unchanged" | "partial")[];
  /** Reads that wait for their answer. */
  let reads: { resolve(home: Home): void; reject(error: Error): void; readonly signal: AbortSignal }[];
  let stopping: AbortController;
  let ended: StreamEnd | undefined;

  beforeEach(() => {
    runtime = manualRuntime();
    heard = [];
    reads = [];
    stopping = new AbortController();
    ended = undefined;
  });

  const follow = (parts: Partial<PollerParts> = {}) => {
    const read = (signal: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<Home>();
      reads.push({ resolve, reject, signal });
      return promise;
    };
    const listener = {
      home: (one: Home) => void heard.push(one),
      unchanged: () => void heard.push("unchanged"),
      partial: () => void heard.push("partial"),
      stored: async () => true,
    };
    void followByReading({ read, everyMs, answerLimitMs, runtime, ...parts }, listener, stopping.signal).then((end) => {
      ended = end;
    });
  };
  const answer = async (one: Home) => {
    reads.at(-1)!.resolve(one);
    await flushPromises();
  };
  const fail = async (error: Error) => {
    reads.at(-1)!.reject(error);
    await flushPromises();
  };

  it("is read at once, and then at the pace; an equal home is reported as unchanged", async () => {
    follow();
    assert.equal(reads.length, 1);
    await answer(home());
    await runtime.advance(everyMs - 1);
    assert.equal(reads.length, 1);
    await runtime.advance(1);
    assert.equal(reads.length, 2);
    await answer(home());
    await runtime.advance(everyMs);
    await answer(home({ smoke: "emergency" }));
    await runtime.advance(everyMs);
    await answer(home());
    assert.deepEqual(heard, [home(), "unchanged", home({ smoke: "emergency" }), home()]);
    assert.equal(ended, undefined);
  });

  it("is read by one read at a time: the pause begins when the answer is there", async () => {
    follow({ answerLimitMs: 10 * everyMs });
    await runtime.advance(5 * everyMs);
    assert.equal(reads.length, 1);
    await answer(home());
    await runtime.advance(everyMs - 1);
    assert.equal(reads.length, 1);
    await runtime.advance(1);
    assert.equal(reads.length, 2);
  });

  for (const [wantedMs, random, pauseMs] of [
    [60_000, 0, 54_000],
    [60_000, 0.999, 65_988],
    [1, 0.5, 1_000],
    [3_600_000, 0.5, 600_000],
  ] as const) {
    it(`is read again after ${pauseMs} ms for a pace of ${wantedMs} ms and the random number ${random}`, async () => {
      runtime = manualRuntime({ random: () => random });
      follow({ everyMs: wantedMs });
      await answer(home());
      await runtime.advance(pauseMs - 1);
      assert.equal(reads.length, 1);
      await runtime.advance(1);
      assert.equal(reads.length, 2);
    });
  }

  it("ends as unauthorized, unreachable or malformed by the error of the read", async () => {
    const odd = new TypeError("odd");
    for (const [error, expected] of [
      [new EcosystemRefused("refused"), { reason: "unauthorized", detail: "refused" }],
      [new EcosystemUnreachable("away"), { reason: "unreachable", detail: "away" }],
      [odd, { reason: "malformed", detail: "a read failed (TypeError)", error: odd }],
    ] as const) {
      follow();
      await fail(error);
      assert.deepEqual(ended, expected);
      assert.equal(runtime.timers, 0);
    }
  });

  it("ends as its protocol says after an error that only the protocol knows", async () => {
    const busy = new Error("429");
    const end: StreamEnd = { reason: "refused", detail: "too many requests" };
    follow({ endAfter: (error) => (error === busy ? end : undefined) });
    await fail(busy);
    assert.deepEqual(ended, end);
    follow({ endAfter: () => undefined });
    await fail(new EcosystemRefused("refused"));
    assert.equal(ended?.reason, "unauthorized");
  });

  it("ends as silent when an answer takes too long, with the time since the last answer", async () => {
    follow();
    await answer(home());
    await runtime.advance(everyMs + answerLimitMs - 1);
    assert.deepEqual([ended, reads.at(-1)!.signal.aborted], [undefined, false]);
    await runtime.advance(1);
    assert.deepEqual(ended, { reason: "silent", detail: "no answer in time", unheardMs: everyMs + answerLimitMs });
    assert.equal(reads.at(-1)!.signal.aborted, true);
    await answer(home({ smoke: "emergency" }));
    assert.deepEqual(heard, [home()], "a late answer is dropped");
  });

  it("ends as stopped in a pause and in a read, and leaves no timer behind", async () => {
    const stopped = { reason: "stopped", detail: "stopped by us" };
    follow();
    await answer(home());
    stopping.abort();
    await flushPromises();
    assert.deepEqual([ended, runtime.timers], [stopped, 0]);

    [stopping, ended] = [new AbortController(), undefined];
    follow();
    stopping.abort();
    await answer(home());
    assert.deepEqual([ended, runtime.timers, heard.length], [stopped, 0, 1]);

    ended = undefined;
    const count = reads.length;
    follow();
    await flushPromises();
    assert.deepEqual([ended, reads.length], [stopped, count], "a stopped one reads nothing");
  });
});
