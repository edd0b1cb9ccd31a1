import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FreshnessParts } from "../../src/federation/freshness.ts";
import { thingFreshnessOfEach } from "../../src/federation/thing-freshness.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";

const nowMs = 1_000_000;
const links = [1, 2].map((id) => ({ userId: 7 as UserId, deviceId: id as DeviceId }));

/** Link 1 is owned by node A, link 2 by node B; both are alive and followed. */
function madeParts(older: readonly string[], isShared = true): Omit<FreshnessParts, "states"> {
  const standings = async (devices: readonly { readonly id: number }[]) =>
    devices.map(({ id }) => ({ deviceId: id, state: "live", owner: id === 1 ? "A" : "B", confirmedMs: nowMs - 1 }));
  const tx = { links: { standings }, nodes: { withoutThings: async () => older } };
  const parts = {
    store: { isShared, read: (body: (given: typeof tx) => unknown) => body(tx) },
    keeper: { supervisor: () => undefined },
    membership: { id: "C" as NodeId, isAlive: true, living: async () => ["A", "B", "C"] },
    runtime: { nowMs: () => nowMs },
  };
  return parts as unknown as Omit<FreshnessParts, "states">;
}

describe("the freshness of things", () => {
  it("is that of their link, whatever the number of things", async () => {
    const fresh = await thingFreshnessOfEach(madeParts([]), [...links, ...links]);
    assert.deepEqual(
      [...fresh].map(([id, { isPresent, isStale, confirmedTimeMs }]) => [id, isPresent, isStale, confirmedTimeMs]),
      [
        [1, true, false, nowMs - 1],
        [2, true, false, nowMs - 1],
      ],
    );
  });

  it("is stale while a node of the version before owns the link, because that node does not write things", async () => {
    const mixed = await thingFreshnessOfEach(madeParts(["B"]), links);
    assert.deepEqual([mixed.get(1 as DeviceId)?.isStale, mixed.get(2 as DeviceId)?.isStale], [false, true]);
    assert.equal(mixed.get(2 as DeviceId)?.isPresent, false);
  });

  it("does not ask for the versions of nodes on a store of one node", async () => {
    const alone = await thingFreshnessOfEach(madeParts(["B"], false), links);
    assert.equal(alone.get(2 as DeviceId)?.isStale, false);
  });
});
