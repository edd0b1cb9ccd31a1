import type { TenantId, UserId } from "../model/ids.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { staleAfterMs } from "./freshness.ts";
import {
  aliveNodes,
  isFollowedElsewhere,
  type OverviewParts,
  type ShownLinkState,
  shownState,
  unfollowed,
} from "./link-overview.ts";

export interface LinkCount {
  readonly state: ShownLinkState;
  readonly count: number;
  /** When the last of these links was confirmed. */
  readonly confirmedMs: number;
}

export interface LinkOverview {
  /** The nodes that follow links, by the store's clock. On SQLite this process alone, while it follows. */
  readonly nodes: number;
  readonly counts: readonly LinkCount[];
}

/** Links of one state: one link of a user, or those of a tenant that the store has counted. */
interface Counted extends LinkCount {
  /** Of one link. */
  readonly userId?: UserId;
  /** Of those that the store has counted. */
  readonly tenantId?: TenantId;
}

/** All links by state. */
export async function linkOverview(parts: OverviewParts): Promise<LinkOverview> {
  const { nodes, counted } = await countedLinks(parts);
  const counts = new Map<ShownLinkState, LinkCount>();
  for (const { state, count, confirmedMs } of counted) {
    const before = counts.get(state) ?? { count: 0, confirmedMs: 0 };
    const latestMs = Math.max(before.confirmedMs, confirmedMs);
    counts.set(state, { state, count: before.count + count, confirmedMs: latestMs });
  }
  return { nodes, counts: [...counts.values()] };
}

/** How many links of some tenants are in each state. */
export type LinkCounts = (tenantIds: readonly TenantId[] | undefined) => Promise<ReadonlyMap<ShownLinkState, number>>;

export type CountsOfTenants = ReadonlyMap<TenantId, ReadonlyMap<ShownLinkState, number>>;

/** Many open pages ask again and again; what was counted is used for so long. */
const keptMs = 1_000;
/** Users whose tenants are looked up in one go; others may run in between. */
const usersAtOnce = 500;

/** Counts links by state, of all tenants at once: everybody who asks within a second gets the same figures. */
export function linkCountsOn(parts: OverviewParts & { readonly runtime: Pick<Runtime, "elapsedMs"> }): {
  readonly linkCounts: LinkCounts;
  /** The same of each tenant that has links. */
  readonly countsOfTenants: () => Promise<CountsOfTenants>;
} {
  const { elapsedMs } = parts.runtime;
  /** The tenants of the users whose homes this node follows. A user never changes the tenant. */
  const tenants = new Map<UserId, TenantId>();
  let kept: { readonly untilMs: number; readonly counts: Promise<CountsOfTenants> } | undefined;

  async function count(): Promise<CountsOfTenants> {
    const { counted } = await countedLinks(parts);
    await learnTenants(parts, counted, tenants);
    const counts = new Map<TenantId, Map<ShownLinkState, number>>();
    for (const { userId, tenantId: known, state, count } of counted) {
      const tenantId = userId === undefined ? known : tenants.get(userId);
      // The user was removed just now, and the link with it.
      if (tenantId === undefined) continue;
      const states = counts.get(tenantId) ?? new Map<ShownLinkState, number>();
      counts.set(tenantId, states.set(state, (states.get(state) ?? 0) + count));
    }
    return counts;
  }

  const countsOfTenants = () => {
    if (!kept || elapsedMs() >= kept.untilMs) {
      const now = { untilMs: elapsedMs() + keptMs, counts: count() };
      kept = now;
      now.counts.catch(() => {
        if (kept === now) kept = undefined;
      });
    }
    return kept.counts;
  };
  const linkCounts: LinkCounts = async (tenantIds) => {
    const counts = await countsOfTenants();
    const sums = new Map<ShownLinkState, number>();
    for (const [tenantId, states] of counts) {
      if (tenantIds && !tenantIds.includes(tenantId)) continue;
      for (const [state, count] of states) sums.set(state, (sums.get(state) ?? 0) + count);
    }
    return sums;
  };
  return { linkCounts, countsOfTenants };
}

/** Reads the tenants of users that are not known yet, and forgets users whose links this node does not follow now. */
async function learnTenants(
  { store }: OverviewParts,
  counted: readonly Counted[],
  tenants: Map<UserId, TenantId>,
): Promise<void> {
  const unknown: UserId[] = [];
  let own = 0;
  for (const { userId } of counted) {
    if (userId === undefined) continue;
    own++;
    if (!tenants.has(userId)) unknown.push(userId);
  }
  for (let from = 0; from < unknown.length; from += usersAtOnce) {
    const some = unknown.slice(from, from + usersAtOnce);
    for (const { id, tenantId } of await store.read((tx) => tx.users.some(some))) tenants.set(id, tenantId);
  }
  if (tenants.size <= own) return;
  const followed = new Set(counted.map(({ userId }) => userId));
  for (const userId of tenants.keys()) if (!followed.has(userId)) tenants.delete(userId);
}

/** Links of this node come from memory, one by one; those of other living nodes from the store, counted there. */
async function countedLinks(
  parts: OverviewParts,
): Promise<{ readonly nodes: number; readonly counted: readonly Counted[] }> {
  const { store, keeper, membership } = parts;
  const isFollowing = membership.isAlive && keeper.isSure && keeper.followed > 0;
  const exceptOwner = isFollowing && keeper.unfollowed === 0 ? membership.id : undefined;
  const { stored, nodes, nowMs } = await store.read(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const tally = tx.links.tally(nowMs - staleAfterMs, exceptOwner);
    const [stored, nodes] = await Promise.all([tally, aliveNodes(parts, tx)]);
    return { stored, nodes, nowMs };
  });
  const counted: Counted[] = [];
  if (isFollowing) {
    for (const { userId, state, isLive, confirmedMs } of keeper.standings()) {
      counted.push({ userId, state: shownState(state, isLive, confirmedMs, nowMs), count: 1, confirmedMs });
    }
  }
  for (const { tenantId, state, owner, ecosystem, count, staleCount, confirmedMs } of stored) {
    if (isFollowing && owner === membership.id && keeper.knows(ecosystem)) continue;
    const add = (shown: ShownLinkState, links: number) => {
      if (links > 0) counted.push({ tenantId, state: shown, count: links, confirmedMs });
    };
    if (!isFollowedElsewhere(owner, nodes, membership.id)) add(unfollowed({ state, reason: "" }).state, count);
    else if (state === "live") {
      add("live", count - staleCount);
      add("stale", staleCount);
    } else add(state, count);
  }
  const others = nodes.filter((node) => node !== membership.id).length;
  return { nodes: others + (isFollowing ? 1 : 0), counted };
}
