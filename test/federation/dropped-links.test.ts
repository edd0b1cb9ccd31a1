import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation } from "./made-federation.ts";

describe("a link that was removed on this node", () => {
  it("is not taken up again from a read or a claim whose answer comes late, until the store is another one", async (t) => {
    const { federation, linkLive, connector, store, userId } = await madeFederation(t);
    await federation.start();
    const deviceId = await linkLive();
    const { keeper } = federation;
    const row = (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
    await federation.unlink(userId, "nest");
    assert.equal(keeper.followed, 0);
    const streams = connector.streams.length;
    for (const epoch of [row.epoch, row.epoch + 1]) keeper.adopt({ ...row, epoch });
    assert.deepEqual([keeper.followed, connector.streams.length], [0, streams]);

    // A restored store may have another link with the same id.
    await keeper.startOver();
    keeper.adopt(row);
    assert.equal(keeper.followed, 1);
  });
});
