import type { DeviceId, NodeId, TenantId, UserId } from "../model/ids.ts";
import { heartbeat } from "../nodes/membership.ts";
import { type LinkRow, type LinkState, type ListedLinkFilter, linkSearchText } from "../store/tables/links.ts";
import { structureAttribute, structureLimit } from "../virtual-device/attribute-names.ts";
import { type FreshnessParts, staleAfterMs } from "./freshness.ts";
import type { FederationTables } from "./keeper.ts";
import type { LinkSupervisor } from "./link-supervisor.ts";

/**
 * The state of a link as an administrator sees it. `stale`: the stream is up, but nothing was confirmed for 15 minutes.
 * `not_followed`: no living node follows the link, so the values of its device are those of its last confirmation.
 */
export type ShownLinkState = LinkState | "stale" | "not_followed";

export interface ShownLink {
  readonly ecosystem: string;
  readonly deviceId: DeviceId;
  readonly state: ShownLinkState;
  readonly reason: string;
  /** When the ecosystem last confirmed the whole state. */
  readonly confirmedMs: number;
}

/** A node whose last heartbeat is older counts as dead here. */
export const aliveWithinMs = 3 * heartbeat.everyMs;

export type OverviewParts = Pick<FreshnessParts, "store" | "keeper" | "membership">;

/** The links of a user. The stored state of a link that no living node follows is never shown as current. */
export async function shownLinksOf(parts: OverviewParts, userId: UserId): Promise<readonly ShownLink[]> {
  const [rows, nodes, nowMs] = await parts.store.read((tx) =>
    Promise.all([tx.links.ofUser(userId), aliveNodes(parts, tx), tx.clock.nowMs()]),
  );
  return rows.map((row) => shownLink(parts, row, nodes, nowMs));
}

type StoredStanding = Pick<LinkRow, "ecosystem" | "deviceId" | "owner" | "state" | "reason" | "confirmedMs">;

/** Of this node from memory, of another living node from the store. */
function shownLink(
  { keeper, membership }: OverviewParts,
  row: StoredStanding,
  nodes: readonly NodeId[],
  nowMs: number,
): ShownLink {
  const supervisor = membership.isAlive ? keeper.supervisor(row.deviceId) : undefined;
  const { ecosystem, deviceId } = row;
  if (supervisor) {
    const { standing, confirmedMs } = supervisor;
    return { ecosystem, deviceId, state: stateOf(supervisor, nowMs), reason: standing.reason, confirmedMs };
  }
  const { confirmedMs } = row;
  if (isFollowedElsewhere(row.owner, nodes, membership.id)) {
    const state = shownState(row.state, true, confirmedMs, nowMs);
    return { ecosystem, deviceId, state, reason: row.reason, confirmedMs };
  }
  return { ecosystem, deviceId, ...unfollowed(row), confirmedMs };
}

/** A link with its user and the node that follows it. */
export interface FoundLink extends ShownLink {
  readonly userId: UserId;
  readonly userName: string;
  readonly tenantId: TenantId;
  /** The names of the homes that its virtual device shows; null while none is known. */
  readonly homeName: string | null;
  readonly node: NodeId | null;
  /** Since when nothing is known about the home; null while it is followed. */
  readonly blindSinceMs: number | null;
  readonly blindCause: string | null;
}

const nameAttributes = Array.from({ length: structureLimit }, (_, index) => structureAttribute(index + 1, "name"));

/** Links read in one go; others may run in between. */
const linksAtOnce = 500;

export interface FoundLinkFilter extends Omit<ListedLinkFilter, "limit" | "nameAttributes"> {
  /** Only links whose home, user, ecosystem or device contains this text, whatever the case. */
  readonly text?: string | undefined;
  /** Only links that are shown in this state. */
  readonly state?: string | undefined;
}

/** Links of these tenants, or of all, in the order of users and ecosystems, with their states as they are shown. */
export async function* foundLinks(
  parts: OverviewParts,
  { tenantIds, after, isSounding, text = "", state }: FoundLinkFilter,
): AsyncGenerator<readonly FoundLink[], void> {
  const wanted = text.toLowerCase();
  const isIn = (words: string) => words.toLowerCase().includes(wanted);
  // A space stands between the name, the ecosystem and the ids.
  const mayBeInIds = /[\d ]/.test(wanted);
  for (let from = after; ; ) {
    const page = { tenantIds, after: from, isSounding, limit: linksAtOnce, nameAttributes };
    const { last, found } = await parts.store.read(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      const joined = wanted === "" ? undefined : await tx.links.joinedSearchText(page, mayBeInIds);
      if (joined && !isIn(joined.words)) return { last: joined.last, found: undefined };
      const skimmed = joined || state === undefined ? undefined : await tx.links.listedDevices(page);
      if (skimmed && !mayShow(parts, skimmed.deviceIds, state!, nowMs)) return { last: skimmed.last, found: undefined };
      const [rows, nodes] = await Promise.all([tx.links.listed(page), aliveNodes(parts, tx)]);
      return { last: rows.length < linksAtOnce ? undefined : rows.at(-1), found: { rows, nodes, nowMs } };
    });
    if (found) {
      const { rows, nodes, nowMs } = found;
      const those = wanted === "" ? rows : rows.filter((row) => isIn(linkSearchText(row)));
      yield those.flatMap((row) => {
        const { userId, userName, tenantId, homeName, owner: node, blindSinceMs, blindCause } = row;
        const shown = shownLink(parts, row, nodes, nowMs);
        if (state !== undefined && shown.state !== state) return [];
        return [{ ...shown, userId, userName, tenantId, homeName, node, blindSinceMs, blindCause }];
      });
    }
    if (!last) return;
    from = last;
  }
}

/** Whether a link of these devices may be shown in the state. The row of a link says it that this node does not follow. */
function mayShow(
  { keeper, membership }: OverviewParts,
  deviceIds: readonly DeviceId[],
  state: string,
  nowMs: number,
): boolean {
  if (!membership.isAlive) return true;
  return deviceIds.some((deviceId) => {
    const supervisor = keeper.supervisor(deviceId);
    return supervisor === undefined || stateOf(supervisor, nowMs) === state;
  });
}

function stateOf(
  { standing, isLive, confirmedMs }: Pick<LinkSupervisor, "standing" | "isLive" | "confirmedMs">,
  nowMs: number,
): ShownLinkState {
  return shownState(standing.state, isLive, confirmedMs, nowMs);
}

/** For how long each of these links was blind since a time, up to now. */
export async function blindTimes(
  { store }: Pick<OverviewParts, "store">,
  links: readonly Pick<FoundLink, "userId" | "deviceId" | "blindSinceMs">[],
  withinMs: number,
): Promise<ReadonlyMap<DeviceId, number>> {
  const { sums, nowMs } = await store.read(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    return { nowMs, sums: await tx.blindIntervals.sums(links, nowMs - withinMs) };
  });
  const times = new Map(sums.map(({ deviceId, blindMs }) => [deviceId, Number(blindMs)]));
  for (const { deviceId, blindSinceMs } of links) {
    const open = blindSinceMs === null ? 0 : Math.min(withinMs, Math.max(0, nowMs - blindSinceMs));
    times.set(deviceId, Math.min(withinMs, (times.get(deviceId) ?? 0) + open));
  }
  return times;
}

/**
 * Stricter than membership: a display may declare a node dead sooner, while membership must not take its links too
 * early.
 */
export async function aliveNodes(
  { store, membership }: OverviewParts,
  tx: Pick<FederationTables, "nodes">,
): Promise<readonly NodeId[]> {
  return store.isShared ? tx.nodes.alive(aliveWithinMs, true) : [membership.id];
}

export function shownState(state: LinkState, isLive: boolean, confirmedMs: number, nowMs: number): ShownLinkState {
  if (state !== "live") return state;
  if (!isLive) return "waiting";
  return nowMs - confirmedMs > staleAfterMs ? "stale" : "live";
}

/** A link of this node without a supervisor here is followed by no node. */
export function isFollowedElsewhere(owner: NodeId | null, nodes: readonly NodeId[], ownId: NodeId): boolean {
  return owner !== null && owner !== ownId && nodes.includes(owner);
}

/** A refused token stays refused, even while no service runs. */
export function unfollowed({ state, reason }: Pick<LinkRow, "state" | "reason">): Pick<ShownLink, "state" | "reason"> {
  if (state === "needs_reauth") return { state, reason };
  return { state: "not_followed", reason: "no service follows this link" };
}
