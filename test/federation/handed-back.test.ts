import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { storeLinks } from "./stored-links.ts";

describe("a link that is handed back because a node has joined", () => {
  it("has the time of its last confirmation in the store, since which the next owner counts it as blind", async (t) => {
    const { federation, store, runtime, connector, linkLive, userId } = await madeFederation(t, { isShared: true });
    await federation.start();
    const deviceId = await linkLive();
    const stored = async () => (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
    const until = async (isSo: () => boolean | Promise<boolean>) => {
      for (let turn = 0; turn < 400 && !(await isSo()); turn++) await runtime.advance(50);
      assert.ok(await isSo());
    };
    // With a second link this node has more than its share as soon as another node lives.
    await storeLinks(store, 1, () => ({ owner: thisNode }));
    await until(() => federation.keeper.followed === 2);
    await runtime.advance(20_000);
    const confirmedMs = runtime.nowMs();
    connector.streams[0]!.repeats();
    await runtime.advance(0);
    assert.ok((await stored()).confirmedMs < confirmedMs, "confirmation times are stored once a minute");
    await store.transaction((tx) => tx.nodes.beat(otherNode));
    await until(async () => (await stored()).owner === null);
    const { state, confirmedMs: storedMs } = await stored();
    assert.deepEqual([state, storedMs], ["live", confirmedMs]);
  });
});
