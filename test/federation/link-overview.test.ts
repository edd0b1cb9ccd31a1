import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { linkOverview, shownLinksOf } from "../../src/federation/link-overview.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";

type Parts = Parameters<typeof linkOverview>[0];

const nowMs = 10_000_000_000;
const recentMs = nowMs - 1_000;
const longAgoMs = nowMs - 16 * 60_000;
const [own, other, dead] = ["own", "other", "dead"].map((id) => id as NodeId) as [NodeId, NodeId, NodeId];

interface Given {
  /** The links that this node follows. */
  readonly followed?: readonly { id: number; state: LinkRow["state"]; isLive: boolean; confirmedMs: number }[];
  readonly stored?: readonly { id: number; state: LinkRow["state"]; owner: NodeId | null; confirmedMs: number }[];
  readonly isAlive?: boolean;
}

/** Two living nodes on a shared store. */
function partsOf({ followed = [], stored = [], isAlive = true }: Given): Parts {
  const tx = {
    clock: { nowMs: async () => nowMs },
    nodes: { alive: async () => [own, other] },
    links: {
      ofUser: async () =>
        [...followed.map((one) => ({ ...one, owner: own })), ...stored].map(({ id, ...row }) => ({
          ...row,
          deviceId: id,
          ecosystem: "nest",
          reason: `stored ${row.state}`,
        })),
      tally: async (staleBeforeMs: number) =>
        stored.map(({ state, owner, confirmedMs }) => ({
          state,
          owner,
          confirmedMs,
          count: 1,
          staleCount: confirmedMs < staleBeforeMs ? 1 : 0,
        })),
    },
  };
  const supervisor = (deviceId: DeviceId) => {
    const found = followed.find(({ id }) => id === deviceId);
    return found && { ...found, standing: { state: found.state, reason: "followed" } };
  };
  return {
    store: { isShared: true, read: (body: (tables: unknown) => unknown) => body(tx) },
    keeper: { followed: followed.length, standings: () => followed, supervisor },
    membership: { id: own, isAlive },
  } as unknown as Parts;
}

const statesOf = async (given: Given) =>
  (await shownLinksOf(partsOf(given), 1 as UserId)).map(({ state, reason }) => [state, reason]);

describe("a link that an administrator looks at", () => {
  it("has the state of its stream, when this node follows it", async () => {
    const followed = [
      { id: 1, state: "live", isLive: true, confirmedMs: recentMs },
      { id: 2, state: "live", isLive: true, confirmedMs: longAgoMs },
      { id: 3, state: "live", isLive: false, confirmedMs: recentMs },
      { id: 4, state: "needs_reauth", isLive: false, confirmedMs: longAgoMs },
    ] as const;
    assert.deepEqual(await statesOf({ followed }), [
      ["live", "followed"],
      ["stale", "followed"],
      ["waiting", "followed"],
      ["needs_reauth", "followed"],
    ]);
  });

  it("has its stored state, when another living node follows it, and none that was ever current else", async () => {
    const unfollowed = ["not_followed", "no service follows this link"];
    const stored = [
      { id: 1, state: "live", owner: other, confirmedMs: recentMs },
      { id: 2, state: "live", owner: other, confirmedMs: longAgoMs },
      { id: 3, state: "live", owner: dead, confirmedMs: recentMs },
      { id: 4, state: "live", owner: null, confirmedMs: recentMs },
      { id: 5, state: "live", owner: own, confirmedMs: recentMs },
      { id: 6, state: "needs_reauth", owner: dead, confirmedMs: recentMs },
    ] as const;
    assert.deepEqual(await statesOf({ stored }), [
      ["live", "stored live"],
      ["stale", "stored live"],
      unfollowed,
      unfollowed,
      unfollowed,
      ["needs_reauth", "stored needs_reauth"],
    ]);
  });

  it("is not followed by a node that has lost its membership", async () => {
    const followed = [{ id: 1, state: "live", isLive: true, confirmedMs: recentMs }] as const;
    assert.deepEqual((await statesOf({ followed, isAlive: false }))[0]?.[0], "not_followed");
  });
});

describe("the overview of all links", () => {
  it("counts the links of this node by their streams, and those of other living nodes by their stored state", async () => {
    const followed = [
      { id: 1, state: "live", isLive: true, confirmedMs: recentMs - 5 },
      { id: 2, state: "live", isLive: true, confirmedMs: recentMs },
    ] as const;
    const stored = [
      { id: 1, state: "waiting", owner: own, confirmedMs: longAgoMs },
      { id: 3, state: "live", owner: other, confirmedMs: recentMs - 9 },
      { id: 4, state: "live", owner: other, confirmedMs: longAgoMs },
      { id: 5, state: "waiting", owner: other, confirmedMs: longAgoMs },
      { id: 6, state: "waiting", owner: dead, confirmedMs: longAgoMs },
    ] as const;
    assert.deepEqual(await linkOverview(partsOf({ followed, stored })), {
      nodes: 2,
      counts: [
        { state: "live", count: 3, confirmedMs: recentMs },
        { state: "stale", count: 1, confirmedMs: longAgoMs },
        { state: "waiting", count: 1, confirmedMs: longAgoMs },
        { state: "not_followed", count: 1, confirmedMs: longAgoMs },
      ],
    });
  });

  it("counts no node that follows nothing", async () => {
    assert.deepEqual(await linkOverview(partsOf({})), { nodes: 1, counts: [] });
  });
});
