import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { storeLinks } from "./stored-links.ts";

describe("a node that lost one link and owns another with the same epoch, and heard of neither", () => {
  it("gives up the one and follows the other", async (t) => {
    const { federation, store, runtime, linkLive, userId } = await madeFederation(t, { isShared: true });
    await federation.start();
    const lost = await linkLive();
    // As after a hand-back that failed: the store says that this node owns the link, and nobody follows it.
    const [won] = await storeLinks(store, 1, () => ({ owner: thisNode }));
    const epochs = await store.read((tx) => tx.links.epochsOf(thisNode));
    assert.equal(new Set(epochs.map(({ epoch }) => epoch)).size, 1);
    await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      await tx.links.takeOver(userId, lost, otherNode);
    });
    const isSo = () =>
      federation.keeper.standing(lost) === undefined && federation.keeper.standing(won!.deviceId) !== undefined;
    for (let turn = 0; turn < 400 && !isSo(); turn++) await runtime.advance(50);
    assert.ok(isSo());
  });
});
