import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { linkCountsOn, linkOverview } from "../../src/federation/link-counts.ts";
import { shownLinksOf } from "../../src/federation/link-overview.ts";
import type { DeviceId, NodeId, TenantId, UserId } from "../../src/model/ids.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";

type Parts = Parameters<typeof linkOverview>[0];

const nowMs = 10_000_000_000;
const recentMs = nowMs - 1_000;
const longAgoMs = nowMs - 16 * 60_000;
const [own, other, dead] = ["own", "other", "dead"].map((id) => id as NodeId) as [NodeId, NodeId, NodeId];

interface GivenLink {
  readonly id: number;
  readonly state: LinkRow["state"];
  readonly confirmedMs: number;
  readonly tenantId?: number;
  readonly ecosystem?: string;
}

interface Given {
  /** The links that this node follows. */
  readonly followed?: readonly (GivenLink & { readonly isLive: boolean })[];
  readonly stored?: readonly (GivenLink & { readonly owner: NodeId | null })[];
  readonly isAlive?: boolean;
  readonly isSure?: boolean;
}

/** Two living nodes on a shared store. The user of a link has its number; only nest is configured. */
function partsOf({ followed = [], stored = [], isAlive = true, isSure = true }: Given): Parts {
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
      tally: async (staleBeforeMs: number, exceptOwner?: NodeId) =>
        stored
          .filter(({ owner }) => exceptOwner === undefined || owner !== exceptOwner)
          .map(({ state, owner, confirmedMs, tenantId = 1, ecosystem = "nest" }) => ({
            tenantId,
            state,
            owner,
            ecosystem,
            confirmedMs,
            count: 1,
            staleCount: confirmedMs < staleBeforeMs ? 1 : 0,
          })),
    },
    users: {
      some: async (ids: readonly number[]) =>
        followed.filter(({ id }) => ids.includes(id)).map(({ id, tenantId = 1 }) => ({ id, tenantId })),
    },
  };
  const supervisor = (deviceId: DeviceId) => {
    const found = followed.find(({ id }) => id === deviceId);
    return found && { ...found, standing: { state: found.state, reason: "followed" } };
  };
  return {
    store: { isShared: true, read: (body: (tables: unknown) => unknown) => body(tx) },
    keeper: {
      isSure,
      followed: followed.length,
      unfollowed: stored.filter(({ owner, ecosystem }) => owner === own && ecosystem === "gone").length,
      knows: (ecosystem: string) => ecosystem === "nest",
      standings: () => followed.map((one) => ({ userId: one.id, ...one })),
      supervisor,
    },
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

describe("the counts of links", () => {
  const countsOf = async (given: Given, tenantIds?: readonly number[]) => {
    const counts = linkCountsOn({ ...partsOf(given), runtime: { elapsedMs: () => 0 } }).linkCounts;
    return Object.fromEntries(await counts(tenantIds as TenantId[] | undefined));
  };
  const followed = [
    { id: 1, state: "live", isLive: true, confirmedMs: recentMs },
    { id: 2, state: "live", isLive: true, confirmedMs: longAgoMs, tenantId: 2 },
  ] as const;
  const stored = [
    { id: 1, state: "waiting", owner: own, confirmedMs: longAgoMs },
    { id: 2, state: "live", owner: own, confirmedMs: longAgoMs, tenantId: 2 },
    { id: 3, state: "live", owner: other, confirmedMs: recentMs, tenantId: 2 },
    { id: 4, state: "needs_reauth", owner: dead, confirmedMs: recentMs, tenantId: 3 },
    { id: 5, state: "live", owner: null, confirmedMs: recentMs },
  ] as const;

  it("are those of the tenants that are asked for", async () => {
    const given = { followed, stored };
    assert.deepEqual(await countsOf(given), { live: 2, stale: 1, needs_reauth: 1, not_followed: 1 });
    assert.deepEqual(await countsOf(given, [2]), { stale: 1, live: 1 });
    assert.deepEqual(await countsOf(given, [1, 3]), { live: 1, needs_reauth: 1, not_followed: 1 });
    assert.deepEqual(await countsOf(given, []), {});
  });

  it("count links whose ecosystem is not configured here as followed by nobody, and no link twice", async () => {
    const gone = { id: 6, state: "live", owner: own, confirmedMs: recentMs, ecosystem: "gone" } as const;
    assert.deepEqual(await countsOf({ followed, stored: [...stored, gone] }, [1]), { live: 1, not_followed: 2 });
  });

  it("show nothing as followed here while other nodes may have claimed it", async () => {
    for (const unsure of [{ isSure: false }, { isAlive: false }]) {
      assert.deepEqual(await countsOf({ followed, stored, ...unsure }, [1, 2]), { not_followed: 3, live: 1 });
    }
  });

  it("remember the tenants of the users whose links are followed here, and of no others", async () => {
    const parts = partsOf({ followed });
    const present = new Set([1, 2]);
    const asked: number[][] = [];
    const read: typeof parts.store.read = (body) =>
      parts.store.read((tx) => {
        const users = {
          some: (ids: readonly UserId[]) => {
            asked.push([...ids]);
            return tx.users.some(ids);
          },
        };
        return body({ ...tx, users: users as typeof tx.users });
      });
    const standings = () => [...parts.keeper.standings()].filter(({ userId }) => present.has(userId));
    const keeper = { ...parts.keeper, standings } as unknown as typeof parts.keeper;
    let elapsedMs = 0;
    const runtime = { elapsedMs: () => elapsedMs };
    const { linkCounts } = linkCountsOn({ ...parts, keeper, store: { ...parts.store, read }, runtime });
    const countAgain = async () => {
      elapsedMs += 1_000;
      return Object.fromEntries(await linkCounts(undefined));
    };
    await countAgain();
    present.delete(2);
    assert.deepEqual(await countAgain(), { live: 1 });
    present.add(2);
    assert.deepEqual(await countAgain(), { live: 1, stale: 1 });
    assert.deepEqual(asked, [[1, 2], [2]], "the user who was followed all the time is asked for once");
  });

  it("are counted once for all who ask within a second, and again after a failure", async () => {
    const parts = partsOf({ followed, stored });
    let [reads, elapsedMs, isDown] = [0, 0, false];
    const read: typeof parts.store.read = (body) => {
      reads += 1;
      return isDown ? Promise.reject(new Error("down")) : parts.store.read(body);
    };
    const store = { ...parts.store, read };
    const counts = linkCountsOn({ ...parts, store, runtime: { elapsedMs: () => elapsedMs } }).linkCounts;
    await Promise.all([counts(undefined), counts([1 as TenantId])]);
    await counts([2 as TenantId]);
    // One for the links, one for the tenants of the users.
    assert.equal(reads, 2);
    [elapsedMs, isDown] = [1_000, true];
    await assert.rejects(counts(undefined), /down/);
    isDown = false;
    await counts(undefined);
    // The tenants are known already.
    assert.equal(reads, 4);
  });
});
