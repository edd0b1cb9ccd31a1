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
import { movedRuntime, settled } from "../federation/moved-runtime.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

describe("a node among others", () => {
  it("takes its presence lock again when it was lost as soon as it was taken", { timeout: 30_000 }, async (t) => {
    const folder = await newDataFolder("breezeway-membership-");
    const runtime = movedRuntime();
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
      await settled();
    }
    assert.equal(tries, 2);
  });

  for (const outage of ["losesLocks", "keepsLocks"] as const) {
    it(`takes no links of others after all were cut off from the store (${outage})`, async (t) => {
      const { nodes, claimAll, runtime } = await twoNodes(t, outage === "losesLocks");
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
      assert.equal((await first.census()).isSettled, true);
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

  it("takes the links of a node that has left at once, also at its start", async (t) => {
    const { nodes, claimAll, links, start } = await twoNodes(t);
    await nodes[1].membership.stop();
    assert.deepEqual(await claimAll(await start("third")), [links[1]]);
  });
});

interface CuttableNode {
  readonly membership: Membership;
  cut(): void;
  connect(): void;
  census(): Promise<Census>;
}

/** Two nodes on one store, each of which owns one link. */
async function twoNodes(t: TestContext, losesLocks = true) {
  const folder = await newDataFolder("breezeway-membership-");
  const runtime = movedRuntime();
  const opened = await openSqlite({ folder, nowMs: runtime.nowMs });
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
  const nodes = [await start("first"), await start("second")] as const;
  const links: DeviceId[] = [];
  for (const [index, { membership }] of nodes.entries()) {
    const home = await makeHome(opened, { name: `user ${index}` });
    await opened.transaction((tx) => tx.links.add(linkOf(home, membership.id)));
    links.push(home.devices[0]!);
  }
  const claimAll = async ({ membership }: CuttableNode) => {
    const { claimed } = await opened.transaction((tx) => claimShare(tx, membership, 10));
    return claimed.map(({ deviceId }) => deviceId).sort();
  };
  return { nodes, claimAll, runtime, links, start };
}
