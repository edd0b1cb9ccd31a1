import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation } from "./made-federation.ts";
import { storeLinks } from "./stored-links.ts";

describe("unlinking", () => {
  it("revokes the token, and the device can't be read any more, though it was read before", async (t) => {
    const { federation, linkLive, states, userId } = await madeFederation(t);
    const deviceId = await linkLive();
    assert.equal((await states.get(userId, deviceId))?.device.id, deviceId);
    const unlinked = await federation.unlink(userId, "nest");
    assert.deepEqual([unlinked.deviceId, unlinked.isTokenRevoked], [deviceId, true]);
    assert.equal(await states.get(userId, deviceId), undefined);
  });

  it("of all accounts says for each whether its token was revoked, and leaves no link behind", async (t) => {
    const { federation, linkLive, store, userId } = await madeFederation(t);
    const deviceId = await linkLive();
    const unlinked = await federation.unlinkAll(userId);
    assert.deepEqual(
      unlinked.map((one) => [one.deviceId, one.isTokenRevoked]),
      [[deviceId, true]],
    );
    assert.deepEqual(await store.read((tx) => tx.links.ofUser(userId)), []);
    assert.deepEqual(await federation.unlinkAll(userId), []);
  });

  it("of all accounts includes one of an ecosystem that is no longer configured, whose token nobody can revoke", async (t) => {
    const { federation, store } = await madeFederation(t);
    const [{ userId, deviceId }] = (await storeLinks(store, 1, () => ({ ecosystem: "closed" }))) as [
      Awaited<ReturnType<typeof storeLinks>>[number],
    ];
    const unlinked = await federation.unlinkAll(userId);
    assert.deepEqual(
      unlinked.map((one) => [one.deviceId, one.isTokenRevoked]),
      [[deviceId, false]],
    );
    assert.deepEqual(await store.read((tx) => tx.links.ofUser(userId)), []);
  });
});
