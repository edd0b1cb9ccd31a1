import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises } from "./manual-runtime.ts";

type Plan = Pick<LinkRow, "state"> & { readonly isOwnerAlive?: boolean };

describe("the same token again, on a node that doesn't follow the link", () => {
  it("keeps the stream of the other node", async (t) => {
    const { stored, relink, connector } = await followedElsewhere(t, { state: "live" });
    const [before, streams] = [await stored(), connector.streams.length];
    await relink("c.token");
    assert.deepEqual(await stored(), before);
    assert.equal(connector.streams.length, streams);
  });

  for (const [name, plan, token] of [
    ["another token", { state: "live" }, "c.new"],
    ["a link that needs a new token", { state: "needs_reauth" }, "c.token"],
    ["a link without a live stream, whose node may be unable to open the token", { state: "waiting" }, "c.token"],
    ["a link whose node is dead", { state: "live", isOwnerAlive: false }, "c.token"],
  ] as const) {
    it(`does not hold for ${name}: this node follows it now`, async (t) => {
      const { stored, relink } = await followedElsewhere(t, plan);
      const before = await stored();
      await relink(token);
      const { owner, epoch, state, sealedToken } = await stored();
      assert.deepEqual([owner, epoch, state, sealedToken], [thisNode, before.epoch + 1, "waiting", token]);
    });
  }
});

/** A link with the token `c.token` that the other node owns. */
async function followedElsewhere(t: TestContext, { state, isOwnerAlive = true }: Plan) {
  const { federation, store, runtime, connector, linkLive, userId } = await madeFederation(t, { isShared: true });
  const deviceId = await linkLive();
  await store.transaction(async (tx) => {
    if (isOwnerAlive) await tx.nodes.beat(otherNode);
    await tx.links.takeOver(userId, deviceId, otherNode);
    const blindness = state === "live" ? null : { sinceMs: runtime.nowMs(), cause: state };
    await tx.links.setState(userId, deviceId, { state, reason: "", blindness });
  });
  await federation.keeper.drop(deviceId);
  return {
    connector,
    stored: async () => (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!,
    async relink(token: string): Promise<void> {
      const reads = connector.reads.length;
      const relinked = federation.relink(userId, "nest", token);
      while (connector.reads.length === reads) await flushPromises();
      connector.lastRead.resolve(home());
      await relinked;
    },
  };
}
