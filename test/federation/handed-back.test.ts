import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { heldPatterns } from "../alerts/made-matching.ts";
import { homeWith, structure } from "../home/home-parts.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { flushPromises } from "./manual-runtime.ts";
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

describe("links of a node that stops, or hands them back, while one of them waits for costly patterns of alerts", {
  timeout: 60_000,
}, () => {
  const waitingLink = async (t: TestContext) => {
    const held = heldPatterns(({ deviceId }) => deviceId === costly.deviceId);
    const costly: { deviceId?: DeviceId } = {};
    const made = await madeFederation(t, { isShared: true, react: held.react });
    const { federation, store, connector, linkLive, userId } = made;
    await federation.start();
    const deviceId = await linkLive();
    const [other] = await storeLinks(store, 1, () => ({ owner: thisNode }));
    federation.keeper.wake();
    while (federation.keeper.followed < 2) await made.runtime.advance(500);
    costly.deviceId = deviceId;
    connector.streams[0]!.brings(homeWith({ structures: { s1: structure({ away: "away" }) } }));
    while (held.waiting() === 0) await flushPromises();
    const owners = () =>
      store.read(async (tx) => [
        (await tx.links.ofDevice(userId, deviceId))?.owner,
        (await tx.links.ofDevice(other!.userId, other!.deviceId))?.owner,
      ]);
    return { ...made, owners, costly };
  };

  it("are released at once, and the next owner reads the account again", async (t) => {
    const { federation, owners, runtime } = await waitingLink(t);
    await federation.keeper.stop();
    assert.deepEqual(await owners(), [null, null]);
    assert.deepEqual(
      runtime.logLines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

  it("are followed again when the store was restored", async (t) => {
    const { federation, connector, runtime, costly } = await waitingLink(t);
    const streams = connector.streams.length;
    costly.deviceId = undefined as never;
    await federation.keeper.startOver();
    while (connector.streams.length < streams + 2) await runtime.advance(500);
  });
});
