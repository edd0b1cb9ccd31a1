import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Reporter, type ReporterParts } from "../../src/assistants/reporter/reporter.ts";
import { limits } from "../../src/model/limits.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";

describe("the reporter, while an outlet has no free slot", () => {
  it("tries an emergency whose first attempt failed, in the reserve", async () => {
    const slots = limits.assistantSendsPerOutlet;
    const ordinary = Array.from({ length: slots + 1 }, (_, userId) => ({ userId, outletId: "a", dueMs: 1 }));
    const failed = { userId: 1_000, outletId: "a", dueMs: 2, attempts: 1, isUrgent: true };
    const tried: number[] = [];
    const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
    const tx = {
      clock: { nowMs: async () => 3 },
      log: { tail: async () => [], horizon: async () => logStart },
      logEpoch: { current: async () => ({ name: "e" }) },
      assistantMarks: { lockFeed: async () => ({ ...logStart, urgent: logStart, epoch: "e", sweptMs: 0 }) },
      assistantGrants: {
        isAny: async () => true,
        due: async () => [...ordinary, failed],
        claim: ({ userId }: { readonly userId: number }) => {
          tried.push(userId);
          return answered;
        },
      },
    };
    const run = (body: (tables: typeof tx) => unknown) => body(tx);
    const store = { isShared: false, transaction: run, read: run };
    const parts = { store, runtime: manualRuntime(), onLimitReached: () => undefined };
    const reporter = new Reporter(parts as unknown as ReporterParts);
    reporter.wake();
    await nextTurn();
    answer(undefined);
    await reporter.stop();
    assert.deepEqual(tried.slice(0, slots + 1), [...ordinary.slice(0, slots).map(({ userId }) => userId), 1_000]);
  });
});
