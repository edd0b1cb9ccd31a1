import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation } from "./made-federation.ts";
import { home } from "./made-homes.ts";

describe("a store that was restored, or a standby that was promoted", () => {
  it("has every link followed again, so that what it lost is mirrored again", async (t) => {
    const { linkLive, connector, federation, store, runtime, userId } = await madeFederation(t, {
      isShared: true,
    });
    await federation.start();
    const deviceId = await linkLive();
    const stored = async () => (await store.read((tx) => tx.attributes.all(userId, deviceId))).length;
    const until = async (isSo: () => boolean | Promise<boolean>) => {
      for (let turn = 0; turn < 400 && !(await isSo()); turn++) await runtime.advance(5);
      assert.ok(await isSo());
    };
    const mirrored = await stored();
    assert.ok(mirrored > 0);

    // The store lacks what the lane has cached, and the ecosystem sends nothing new.
    await store.transaction((tx) => tx.attributes.removeOfDevice(userId, deviceId));
    const held = connector.stream;
    await federation.keeper.startOver();
    assert.equal(held.isOpen, false);
    await until(() => connector.stream !== held);
    connector.stream.brings(home());
    await until(async () => (await stored()) === mirrored);
  });
});
