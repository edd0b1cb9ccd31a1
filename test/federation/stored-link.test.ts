import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadMirrored, writeStanding } from "../../src/federation/stored-link.ts";
import { OwnershipLost } from "../../src/model/errors.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";

describe("the stored link", () => {
  it("is neither read nor written by a node that no longer owns it, which learns that it lost the link", async (t) => {
    const { store, linkLive, userId } = await madeFederation(t);
    const deviceId = await linkLive();
    const row = (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
    const key = { userId, deviceId, ecosystem: "nest" };
    const standing = { state: "waiting", reason: "late", blindness: { sinceMs: 1, cause: "late" } } as const;
    for (const ownership of [
      { owner: thisNode, epoch: row.epoch - 1 },
      { owner: otherNode, epoch: row.epoch },
    ]) {
      await assert.rejects(loadMirrored(store, { ...key, ownership }), OwnershipLost);
      await assert.rejects(writeStanding(store, { ...key, ownership }, standing, [], 1), OwnershipLost);
    }
    assert.deepEqual(await store.read((tx) => tx.links.ofDevice(userId, deviceId)), row);
  });
});
