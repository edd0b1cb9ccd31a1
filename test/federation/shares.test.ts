import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { claimShare, surplusIn } from "../../src/federation/shares.ts";
import type { NodeId } from "../../src/model/ids.ts";

const node = (id: string) => id as NodeId;

/** This node `a` and a living node `b`; the links by owner. */
function nodesWith(counts: Readonly<Record<string, number>>, isCertain = true, isAlive = true) {
  const claims: (readonly [dead: readonly NodeId[], limit: number])[] = [];
  const shares = Object.entries(counts).map(([owner, count]) => ({ owner: owner === "" ? null : node(owner), count }));
  const tx = {
    links: {
      owners: async () => shares.map(({ owner }) => owner),
      countsByOwner: async () => shares,
      claimOrphans: async (_owner: NodeId, dead: readonly NodeId[], limit: number) => {
        claims.push([dead, limit]);
        return Array.from({ length: limit }, () => ({}));
      },
    },
  } as unknown as Parameters<typeof claimShare>[0];
  const census = async () => ({ living: [node("a"), node("b")], isCertain });
  const membership = { id: node("a"), census, isAlive } as unknown as Parameters<typeof claimShare>[1];
  return { tx, membership, claims };
}

describe("a node's share of the links", () => {
  it("is claimed from dead nodes up to half of all, when two nodes live", async () => {
    const { tx, membership, claims } = nodesWith({ a: 1, b: 3, dead: 4 });
    assert.deepEqual(await claimShare(tx, membership, 100), { claimed: [{}, {}, {}], room: 0, isFull: false });
    assert.deepEqual(claims, [[["dead"], 3]]);
  });

  it("is claimed in steps of a given size", async () => {
    const { tx, membership } = nodesWith({ a: 1, b: 3, dead: 4 });
    const { claimed, room } = await claimShare(tx, membership, 2);
    assert.deepEqual([claimed.length, room], [2, 1]);
  });

  it("is not claimed when the node has it already, when no link is without a node, or before the nodes are known", async () => {
    const full = nodesWith({ a: 5, b: 1, "": 2 });
    assert.deepEqual(await claimShare(full.tx, full.membership, 100), { claimed: [], room: -1, isFull: false });
    const whole = nodesWith({ a: 1, b: 3 });
    const unsettled = nodesWith({ a: 1, dead: 3 }, false);
    for (const { tx, membership } of [whole, unsettled]) {
      assert.deepEqual(await claimShare(tx, membership, 100), { claimed: [], room: 0, isFull: false });
    }
    for (const { claims } of [full, whole, unsettled]) assert.deepEqual(claims, []);
  });

  it("is claimed from links without a node alone, before the nodes are known, and not by a node without a lease", async () => {
    const { tx, membership, claims } = nodesWith({ a: 1, "": 1, dead: 4 }, false);
    await claimShare(tx, membership, 100);
    assert.deepEqual(claims, [[[], 2]]);
    const expired = nodesWith({ a: 1, "": 1, dead: 4 }, false, false);
    assert.deepEqual((await claimShare(expired.tx, expired.membership, 100)).claimed, []);
    assert.deepEqual(expired.claims, []);
  });

  it("is exceeded by what the node has beyond it", async () => {
    for (const [counts, surplus] of [
      [{ a: 5, b: 2 }, 1],
      [{ a: 2, b: 5 }, 0],
    ] as const) {
      const { tx, membership } = nodesWith(counts);
      assert.equal(await surplusIn(tx, membership), surplus);
    }
  });
});
