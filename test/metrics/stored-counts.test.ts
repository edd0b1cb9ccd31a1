import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HourlyCounts } from "../../src/metrics/hourly-counts.ts";
import { CountStorage, readStoredCounts } from "../../src/metrics/stored-counts.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { OpenStore } from "../../src/store/seam.ts";

const hour = 3_600_000;

/** A store with one setting, and a clock that the store and the nodes share. */
function makeWorld() {
  const clock = { ms: 100 * hour };
  const setting: { value?: string } = {};
  const failure: { error?: Error } = {};
  const settings = {
    get: async () => setting.value,
    lock: async (_: string, value: string) => (setting.value ??= value),
    set: async (_: string, value: string) => (setting.value = value),
  };
  const tx = { settings, clock: { nowMs: async () => clock.ms } } as unknown as Parameters<typeof readStoredCounts>[0];
  const transaction = async (act: (given: typeof tx) => Promise<void>) => {
    if (failure.error) throw failure.error;
    await act(tx);
  };
  const runtime = {
    nowMs: () => clock.ms,
    elapsedMs: () => clock.ms,
    report: { warn() {}, error() {} },
  } as unknown as Runtime;
  const startNode = () => {
    const counts = new HourlyCounts(runtime.nowMs);
    return { counts, storage: new CountStorage({ transaction } as unknown as OpenStore, counts, runtime) };
  };
  const stored = async () => (await readStoredCounts(tx))!;
  return { clock, failure, startNode, stored };
}

describe("stored hourly counts", () => {
  it("add up what all nodes have counted, each count once", async () => {
    const { startNode, stored } = makeWorld();
    const [one, other] = [startNode(), startNode()];
    one.counts.add("changes", 2);
    await one.storage.save();
    await one.storage.save();
    one.counts.add("changes");
    other.counts.add("changes", 4);
    assert.equal(one.storage.unsaved().changes!.at(-1), 1);
    await one.storage.stop();
    await other.storage.stop();
    assert.deepEqual(one.storage.unsaved(), {});
    assert.equal((await stored()).counts.changes!.at(-1), 7);
  });

  it("keep the hour of each count, and forget it after a day", async () => {
    const { clock, startNode, stored } = makeWorld();
    const { counts, storage } = startNode();
    counts.add("changes", 5);
    await storage.save();
    counts.add("changes");
    clock.ms += 2 * hour;
    counts.add("changes");
    await storage.save();
    assert.deepEqual((await stored()).counts.changes!.slice(-3), [6, 0, 1]);
    assert.equal((await stored()).sinceMs, 100 * hour);
    clock.ms += 22 * hour;
    assert.deepEqual((await stored()).counts.changes!.slice(0, 3), [0, 1, 0]);
    counts.add("limit");
    await storage.save();
    clock.ms += 2 * hour;
    assert.deepEqual(Object.keys((await stored()).counts), ["limit"]);
  });

  it("miss nothing after a save that failed, and nothing moves when the clock is set back", async () => {
    const { clock, failure, startNode, stored } = makeWorld();
    const { counts, storage } = startNode();
    counts.add("changes", 3);
    failure.error = new Error("no store");
    await storage.save();
    assert.equal(storage.unsaved().changes!.at(-1), 3);
    delete failure.error;
    await storage.save();
    clock.ms -= hour;
    assert.deepEqual(storage.unsaved(), {});
    clock.ms += hour;
    counts.add("changes");
    await storage.save();
    assert.equal((await stored()).counts.changes!.at(-1), 4);
  });
});
