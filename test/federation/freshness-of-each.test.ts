import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DeviceStates } from "../../src/devices/states.ts";
import { freshnessBeside, freshnessOfEach } from "../../src/federation/freshness.ts";
import type { LinkKeeper } from "../../src/federation/keeper.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import { heartbeat, Membership } from "../../src/nodes/membership.ts";
import type { Store } from "../../src/store/seam.ts";
import type { LinkState } from "../../src/store/tables/links.ts";
import { linkOf } from "../contracts/store/home.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { noonMs } from "./manual-runtime.ts";

describe("the freshness of many devices", () => {
  it("is separate for each device, whichever node follows it", async (t) => {
    const { federation, store, userId, lamp, linkLive, runtime } = await madeFederation(t, { isShared: true });
    const mine = await linkLive();
    const link = (ecosystem: string, owner: NodeId, state: LinkState, confirmedMs: number) =>
      store.transaction(async (tx) => {
        const device = await tx.devices.add({ userId, typeName: "EcosystemAccount", name: ecosystem, isVirtual: true });
        const home = { userId, devices: [device] } as never;
        await tx.links.add({ ...linkOf(home, owner), ecosystem, state, confirmedMs });
        return device;
      });
    await store.transaction((tx) => tx.nodes.beat(otherNode));
    const living = await link("living", otherNode, "live", noonMs - 1);
    const behind = await link("behind", otherNode, "live", noonMs - 15 * 60_000 - 1);
    const waiting = await link("waiting", otherNode, "waiting", noonMs - 2);
    const dead = await link("dead", "node-z" as NodeId, "live", noonMs - 3);
    const unfollowed = await link("unfollowed", thisNode, "live", noonMs - 4);
    const ended = await store.transaction((tx) =>
      tx.devices.add({ userId, typeName: "EcosystemAccount", name: "ended", isVirtual: true }),
    );
    const virtual = [mine, living, behind, waiting, dead, unfollowed, ended].map((id) => ({
      userId,
      id,
      isVirtual: true,
    }));
    const found = await federation.freshnessOfEach([{ userId, id: lamp, isVirtual: false }, ...virtual]);
    const shown = (id: DeviceId) => {
      const one = found.get(id);
      return one && [one.isPresent, one.isStale, one.confirmedTimeMs];
    };
    assert.deepEqual(shown(lamp), [true, false, null]);
    assert.deepEqual(shown(mine), [true, false, noonMs]);
    assert.deepEqual(shown(living), [true, false, noonMs - 1]);
    assert.deepEqual(shown(behind), [true, true, noonMs - 15 * 60_000 - 1]);
    assert.deepEqual(shown(waiting), [false, true, noonMs - 2]);
    assert.deepEqual(shown(dead), [false, true, noonMs - 3]);
    assert.deepEqual(shown(unfollowed), [false, true, noonMs - 4], "this node owns it, and follows it not");
    assert.equal(shown(ended), undefined);
    for (const id of [lamp, mine, living, behind, waiting, dead, unfollowed]) {
      assert.deepEqual(await federation.freshness(userId, id), found.get(id), "alone it is told otherwise");
    }
    await runtime.advance(heartbeat.leaseMs);
    assert.equal(
      (await federation.freshnessOfEach([{ userId, id: living, isVirtual: true }])).get(living)?.isPresent,
      false,
    );
  });

  it("costs the same for a hundred as for one, and nothing for what this node follows itself", async (t) => {
    const { store, runtime, userId } = await madeFederation(t, { isShared: true });
    const ids = await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      const added: DeviceId[] = [];
      for (let i = 0; i < 100; i++) {
        const device = await tx.devices.add({ userId, typeName: "EcosystemAccount", name: "x", isVirtual: true });
        const home = { userId: userId as UserId, devices: [device] } as never;
        await tx.links.add({ ...linkOf(home, otherNode), ecosystem: `e${i}`, state: "live" });
        added.push(device);
      }
      return added;
    });
    let reads = 0;
    const counting: Store = {
      isShared: true,
      transaction: (body, options) => store.transaction(body, options),
      read: (body) => {
        reads += 1;
        return store.read(body);
      },
    };
    const followed = new Map<DeviceId, object>();
    const keeper = { supervisor: (id: DeviceId) => followed.get(id) } as unknown as LinkKeeper;
    const membership = new Membership(thisNode, counting, runtime);
    await membership.start();
    const cost = async (asked: readonly DeviceId[]) => {
      reads = 0;
      const devices = asked.map((id) => ({ userId: userId as UserId, id, isVirtual: true }));
      const found = await freshnessOfEach({ store: counting, keeper, membership, runtime }, devices);
      assert.equal(found.size, asked.length);
      return reads;
    };
    const costOfOne = await cost(ids.slice(0, 1));
    assert.equal(costOfOne, 1, "the links and who lives, in one look");
    assert.equal(await cost(ids), costOfOne);
    const states = new DeviceStates(counting);
    const readOne = async () => {
      reads = 0;
      const beside = freshnessBeside({ store: counting, keeper, membership, runtime });
      const state = await states.get(userId, ids[0]!, beside.read);
      assert.equal((await beside.of(state!.device))?.isPresent, true);
      return reads;
    };
    assert.equal(await readOne(), 2, "the state is not cached yet");
    assert.equal(await readOne(), 1, "its version, its link and who lives, in one look");
    for (const id of ids) followed.set(id, { isLive: true, confirmedMs: noonMs });
    assert.equal(await cost(ids), 0);
    await membership.stop();
  });
});
