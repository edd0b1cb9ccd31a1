import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UnknownDevice } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { heartbeat } from "../../src/nodes/membership.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { flushPromises, noonMs } from "./manual-runtime.ts";
import { followBy } from "./stored-links.ts";

const minuteMs = 60_000;

describe("the freshness of a virtual device", () => {
  it("is absent and stale before its first stream, as of the read that proved its token", async (t) => {
    const { federation, userId, link } = await madeFederation(t);
    const deviceId = await link();
    const freshness = await federation.freshness(userId, deviceId);
    assert.deepEqual(freshness, { isPresent: false, isStale: true, confirmedTimeMs: noonMs });
  });

  it("is present and fresh while its stream is live", async (t) => {
    const { federation, userId, linkLive } = await madeFederation(t);
    const deviceId = await linkLive();
    const freshness = await federation.freshness(userId, deviceId);
    assert.deepEqual(freshness, { isPresent: true, isStale: false, confirmedTimeMs: noonMs });
  });

  it("is stale after 15 minutes without a confirmation, though its stream seems alive, and fresh after the next", async (t) => {
    const { federation, userId, runtime, connector, linkLive } = await madeFederation(t);
    const deviceId = await linkLive();
    await runtime.advance(15 * minuteMs);
    assert.equal((await federation.freshness(userId, deviceId)).isStale, false);
    await runtime.advance(1);
    const stale = await federation.freshness(userId, deviceId);
    assert.deepEqual(stale, { isPresent: true, isStale: true, confirmedTimeMs: noonMs });
    connector.stream.repeats();
    await flushPromises();
    const fresh = await federation.freshness(userId, deviceId);
    assert.deepEqual(fresh, { isPresent: true, isStale: false, confirmedTimeMs: noonMs + 15 * minuteMs + 1 });
  });

  it("is absent and stale as soon as its stream has ended", async (t) => {
    const { federation, userId, connector, linkLive } = await madeFederation(t);
    const deviceId = await linkLive();
    connector.stream.ends("closed");
    await flushPromises();
    const { isPresent, isStale } = await federation.freshness(userId, deviceId);
    assert.deepEqual([isPresent, isStale], [false, true]);
  });

  it("of another node's link is what that node stored, while the node lives", async (t) => {
    const { federation, store, userId, runtime, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await followBy(store, otherNode, userId, deviceId);
    await federation.keeper.drop(deviceId);
    const present = await federation.freshness(userId, deviceId);
    assert.deepEqual(present, { isPresent: true, isStale: false, confirmedTimeMs: noonMs });
    await runtime.advance(heartbeat.leaseMs);
    const { isPresent, isStale } = await federation.freshness(userId, deviceId);
    assert.deepEqual([isPresent, isStale], [false, true], "a dead owner shows by itself");
  });

  it("of another living node's link is absent when that node stored that it waits", async (t) => {
    const { federation, store, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      await tx.links.takeOver(userId, deviceId, otherNode);
      await tx.links.setState(userId, deviceId, { state: "waiting", reason: "closed: bye", blindness: null });
    });
    await federation.keeper.drop(deviceId);
    assert.equal((await federation.freshness(userId, deviceId)).isPresent, false);
  });

  it("of a link that a living node has just taken over is absent until that node's stream is live", async (t) => {
    const { federation, store, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      await tx.links.claimOrphans(otherNode, [thisNode], 1);
    });
    await federation.keeper.drop(deviceId);
    const { isPresent, isStale } = await federation.freshness(userId, deviceId);
    assert.deepEqual([isPresent, isStale], [false, true]);
    assert.equal(
      (await federation.freshnessOfEach([{ userId, id: deviceId, isVirtual: true }])).get(deviceId)?.isPresent,
      false,
    );
  });

  it("of a link without an owner is absent, whatever was stored", async (t) => {
    const { federation, store, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await federation.stop();
    assert.equal((await store.read((tx) => tx.links.ofDevice(userId, deviceId)))?.owner, null);
    await federation.keeper.drop(deviceId);
    assert.equal((await federation.freshness(userId, deviceId)).isPresent, false);
  });

  for (const storeAheadMs of [-60 * minuteMs, 60 * minuteMs]) {
    it(`follows the store's clock when this node's own is ${-storeAheadMs / minuteMs} minutes from it`, async (t) => {
      const made = await madeFederation(t, { isShared: true, storeAheadMs });
      const { federation, store, userId, runtime, linkLive } = made;
      const deviceId = await linkLive();
      const own = await federation.freshness(userId, deviceId);
      assert.deepEqual(own, { isPresent: true, isStale: false, confirmedTimeMs: noonMs + storeAheadMs });
      const { blindIntervals } = await federation.status(userId, "nest");
      assert.deepEqual(
        blindIntervals.map(({ fromMs, toMs }) => [fromMs, toMs]),
        [[noonMs + storeAheadMs, noonMs + storeAheadMs]],
      );
      await followBy(store, otherNode, userId, deviceId);
      await federation.keeper.drop(deviceId);
      const isStaleAfter = async (ms: number) => {
        await runtime.advance(ms);
        await store.transaction((tx) => tx.nodes.beat(otherNode));
        const { isPresent, isStale } = await federation.freshness(userId, deviceId);
        assert.equal(isPresent, true);
        return isStale;
      };
      assert.equal(await isStaleAfter(15 * minuteMs), false, "of another node's link");
      assert.equal(await isStaleAfter(1), true);
    });
  }

  it("is absent on a node that is cut off, though its stream still seems alive", async (t) => {
    const { federation, connection, userId, runtime, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    connection.isDown = true;
    await runtime.advance(heartbeat.leaseMs);
    assert.equal(federation.keeper.supervisor(deviceId)?.isLive, true);
    const { isPresent, isStale } = await federation.freshness(userId, deviceId);
    assert.deepEqual([isPresent, isStale], [false, true]);
  });
});

describe("the freshness of any device", () => {
  it("is always present when it mirrors nothing", async (t) => {
    const { federation, userId, lamp } = await madeFederation(t);
    const freshness = await federation.freshness(userId, lamp);
    assert.deepEqual(freshness, { isPresent: true, isStale: false, confirmedTimeMs: null });
  });

  it("is shown to its user only: another user's device looks as if it did not exist", async (t) => {
    const { federation, userId, linkLive } = await madeFederation(t);
    const deviceId = await linkLive();
    await assert.rejects(federation.freshness((userId + 1) as UserId, deviceId), UnknownDevice);
    await assert.rejects(federation.freshness(userId, 999 as DeviceId), UnknownDevice);
  });
});
