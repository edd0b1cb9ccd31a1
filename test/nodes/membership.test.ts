import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { claimShare } from "../../src/federation/shares.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, NodeId } from "../../src/model/ids.ts";
import { type Census, heartbeat, Membership } from "../../src/nodes/membership.ts";
import type { NodeBus } from "../../src/store/node-bus.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { linkOf, makeHome } from "../contracts/store/home.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

const hourMs = 3_600_000;

describe("a node among others", () => {
  it("takes its presence lock again when it was lost as soon as it was taken", { timeout: 30_000 }, async (t) => {
    const folder = await newDataFolder("breezeway-membership-");
    const runtime = manualRuntime();
    const opened = await openSqlite({ folder, nowMs: runtime.nowMs });
    let tries = 0;
    const takePresenceLock: NodeBus["takePresenceLock"] = async (_, lost) => {
      tries += 1;
      if (tries === 1) queueMicrotask(lost);
      return { check: async () => undefined, release: async () => undefined };
    };
    const store: Store = {
      isShared: true,
      transaction: (body, priority) => opened.transaction(body, priority),
      read: (body) => opened.read(body),
    };
    const membership = new Membership("node" as NodeId, store, runtime, { takePresenceLock });
    t.after(async () => {
      await membership.stop();
      await opened.close();
      rmSync(folder, { recursive: true });
    });
    await membership.start();
    assert.equal(membership.isAlive, false);
    await runtime.advance(1_000);
    while (!membership.isAlive) {
      t.signal.throwIfAborted();
      await flushPromises();
    }
    assert.equal(tries, 2);
  });

  for (const outage of ["losesLocks", "keepsLocks"] as const) {
    it(`takes no links of others after all were cut off from the store (${outage})`, async (t) => {
      const { nodes, claimAll, runtime } = await twoNodes(t, { losesLocks: outage === "losesLocks" });
      const [first, second] = nodes;
      await runtime.advance(10_000);
      for (const node of nodes) node.cut();
      await runtime.advance(9_000);
      first.connect();
      await runtime.advance(400);
      assert.deepEqual(await claimAll(first), []);
      await runtime.advance(1_500);
      assert.deepEqual(await claimAll(first), []);
      second.connect();
      await runtime.advance(4_000);
      assert.deepEqual(await claimAll(first), []);
      await runtime.advance(6_000);
      assert.deepEqual([await claimAll(first), await claimAll(second)], [[], []]);
      assert.equal((await first.census()).isCertain, true);
    });
  }

  it("takes the links of a node that stays away when the others are back", async (t) => {
    const { nodes, claimAll, runtime, links } = await twoNodes(t);
    const [first, second] = nodes;
    await runtime.advance(10_000);
    for (const node of nodes) node.cut();
    await runtime.advance(9_000);
    first.connect();
    await runtime.advance(7_500);
    assert.deepEqual(await claimAll(first), [links[1]]);
    second.connect();
    await runtime.advance(400);
    assert.deepEqual(await claimAll(second), []);
  });

  it("takes the links of a dead node as soon as its lease has expired, if it was alive throughout", async (t) => {
    const { nodes, claimAll, runtime, links } = await twoNodes(t);
    const [first, second] = nodes;
    await runtime.advance(10_000);
    second.cut();
    await runtime.advance(heartbeat.leaseMs);
    assert.deepEqual(await claimAll(first), [links[1]]);
  });

  it("waits for two seconds at its start before it takes the links of silent nodes", async (t) => {
    const { nodes, claimAll, runtime, links, start } = await twoNodes(t);
    await runtime.advance(10_000);
    for (const node of nodes) node.cut();
    await runtime.advance(9_000);
    const third = await start("third");
    assert.deepEqual(await claimAll(third), []);
    await runtime.advance(1_900);
    assert.deepEqual(await claimAll(third), []);
    await runtime.advance(200);
    assert.deepEqual(await claimAll(third), links);
  });

  it("counts nodes that join, leave and fall silent, with its next heartbeat", async (t) => {
    const { nodes, runtime, start } = await twoNodes(t);
    const [first, second] = nodes;
    await runtime.advance(heartbeat.everyMs);
    assert.equal(first.membership.liveNodes, 2);
    const third = await start("third");
    await runtime.advance(heartbeat.everyMs);
    assert.deepEqual([first.membership.liveNodes, third.membership.liveNodes], [3, 3]);
    await third.membership.stop();
    await runtime.advance(heartbeat.everyMs);
    assert.equal(first.membership.liveNodes, 2);
    second.cut();
    await runtime.advance(heartbeat.leaseMs + heartbeat.everyMs);
    assert.deepEqual([first.membership.liveNodes, second.membership.liveNodes], [1, 2]);
  });

  it("takes the links of a node that has left at once, also at its start", async (t) => {
    const { nodes, claimAll, links, start } = await twoNodes(t);
    await nodes[1].membership.stop();
    assert.deepEqual(await claimAll(await start("third")), [links[1]]);
  });

  for (const [direction, byMs] of [
    ["forward", 2 * hourMs],
    ["back", -hourMs],
  ] as const) {
    it(`takes no links of others when the store's clock is set ${direction}`, async (t) => {
      const { nodes, claimAll, runtime, setClock, listed } = await twoNodes(t, { apartMs: 700 });
      const [first, second] = nodes;
      await runtime.advance(10_000);
      setClock(byMs);
      // Every 100 ms, before and after the next heartbeat of each node.
      for (let passedMs = 0; passedMs < 3_000; passedMs += 100) {
        assert.deepEqual([await claimAll(first), await claimAll(second)], [[], []], `after ${passedMs} ms`);
        assert.deepEqual(await listed(), ["first", "second"], `after ${passedMs} ms`);
        await runtime.advance(100);
      }
      assert.equal((await first.census()).isCertain, false);
      await runtime.advance(heartbeat.leaseMs);
      assert.deepEqual([await claimAll(first), await claimAll(second)], [[], []]);
      assert.equal((await first.census()).isCertain, true);
    });

    it(`takes the links of a node that dies when the store's clock is set ${direction}`, async (t) => {
      const { nodes, claimAll, runtime, links, setClock, listed } = await twoNodes(t);
      const [first, second] = nodes;
      await runtime.advance(10_000);
      second.cut();
      setClock(byMs);
      await runtime.advance(3 * heartbeat.everyMs);
      assert.deepEqual(await listed(), ["first", "second"]);
      await runtime.advance(heartbeat.leaseMs - 2 * heartbeat.everyMs);
      assert.deepEqual(await claimAll(first), [links[1]]);
    });
  }

  it("is not in doubt after a step of the store's clock that makes no lease expire", async (t) => {
    const { nodes, runtime, setClock } = await twoNodes(t);
    await runtime.advance(10_000);
    for (const byMs of [1_900, -1_900]) {
      setClock(byMs);
      assert.equal((await nodes[0].census()).isCertain, true);
      await runtime.advance(heartbeat.everyMs);
      assert.equal((await nodes[0].census()).isCertain, true);
    }
  });

  it("takes a link without an owner although its own presence lock is lost again and again", async (t) => {
    const { nodes, claimAll, runtime, addUnowned } = await twoNodes(t);
    const [first, second] = nodes;
    await second.membership.stop();
    await claimAll(first);
    for (let i = 0; i < 3; i++) {
      await runtime.advance(4_000);
      first.cut();
      first.connect();
      await runtime.advance(400);
      assert.equal((await first.census()).isCertain, false);
      const added = await addUnowned();
      assert.deepEqual(await claimAll(first), [added]);
    }
  });

  it("takes links without an owner up to its share, and no others, while it does not know who is alive", async (t) => {
    const { nodes, claimAll, runtime, addUnowned } = await twoNodes(t);
    const [first] = nodes;
    await runtime.advance(10_000);
    for (const node of nodes) node.cut();
    await runtime.advance(9_000);
    const added = [await addUnowned(), await addUnowned()];
    assert.deepEqual(await claimAll(first), [], "its own lease has expired");
    first.connect();
    await runtime.advance(400);
    assert.deepEqual(await claimAll(first), added.slice(0, 1));
    assert.deepEqual(await claimAll(first), []);
  });
});

interface CuttableNode {
  readonly membership: Membership;
  cut(): void;
  connect(): void;
  census(): Promise<Census>;
}

/** Two nodes on one store, each of which owns one link. */
async function twoNodes(t: TestContext, { losesLocks = true, apartMs = 0 } = {}) {
  const folder = await newDataFolder("breezeway-membership-");
  const runtime = manualRuntime();
  let setMs = 0;
  const opened = await openSqlite({ folder, nowMs: () => runtime.nowMs() + setMs });
  const started: CuttableNode[] = [];
  t.after(async () => {
    for (const node of started) node.connect();
    for (const { membership } of started) await membership.stop();
    await opened.close();
    rmSync(folder, { recursive: true });
  });
  const start = async (name: string): Promise<CuttableNode> => {
    let isCut = false;
    let lose: () => void = () => undefined;
    const refuseIfCut = () => {
      if (isCut) throw new StoreUnavailable("The store can't be reached.");
    };
    const store: Store = {
      isShared: true,
      transaction: async (body, priority) => {
        refuseIfCut();
        return opened.transaction(body, priority);
      },
      read: async (body) => {
        refuseIfCut();
        return opened.read(body);
      },
    };
    const takePresenceLock: NodeBus["takePresenceLock"] = async (_, onLost) => {
      refuseIfCut();
      lose = onLost;
      return { check: async () => refuseIfCut(), release: async () => undefined };
    };
    const membership = new Membership(name as NodeId, store, runtime, { takePresenceLock });
    const node: CuttableNode = {
      membership,
      cut() {
        isCut = true;
        if (losesLocks) lose();
      },
      connect() {
        isCut = false;
      },
      census: () => store.read((tx) => membership.census(tx)),
    };
    await membership.start();
    started.push(node);
    return node;
  };
  let users = 0;
  const addLink = async (owner: NodeId): Promise<DeviceId> => {
    const home = await makeHome(opened, { name: `user ${users++}` });
    await opened.transaction((tx) => tx.links.add(linkOf(home, owner)));
    return home.devices[0]!;
  };
  const first = await start("first");
  await runtime.advance(apartMs);
  const nodes = [first, await start("second")] as const;
  const links = [await addLink(nodes[0].membership.id), await addLink(nodes[1].membership.id)];
  const addUnowned = async (): Promise<DeviceId> => {
    const deviceId = await addLink("nobody" as NodeId);
    await opened.transaction((tx) => tx.links.releaseSome("nobody" as NodeId, [{ deviceId, epoch: 1 }]));
    return deviceId;
  };
  const claimAll = async ({ membership }: CuttableNode) => {
    const { claimed } = await opened.transaction((tx) => claimShare(tx, membership, 10));
    return claimed.map(({ deviceId }) => deviceId).sort();
  };
  const listed = async () => (await opened.read((tx) => tx.nodes.list())).map(({ id }) => id);
  const setClock = (byMs: number) => {
    setMs += byMs;
  };
  return { nodes, claimAll, runtime, links, start, addUnowned, listed, setClock };
}
