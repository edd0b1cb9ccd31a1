import type { NodeId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";

/** Divides the links of a shared store evenly among its nodes. */
export type ShareTables = Pick<Transaction, "links" | "nodes" | "clock">;

/** Maximal streams of one node: about half of the ports of one address. */
export const maximalStreams = 14_000;

/**
 * Live nodes, and dead owners whose links can be claimed. Undefined when no link is claimable. While it is not certain
 * which nodes are alive, only links without an owner are claimable, and the shares are those of all listed nodes.
 */
export async function orphansIn(tx: ShareTables, membership: Membership) {
  const { living, isCertain } = await membership.census(tx);
  if (!isCertain && !membership.isAlive) return undefined;
  const owners = await tx.links.owners();
  const isDead = (owner: NodeId | null): owner is NodeId => owner !== null && !living.includes(owner);
  const dead = isCertain ? owners.filter(isDead) : [];
  return dead.length > 0 || owners.includes(null) ? { living, dead } : undefined;
}

/** Claims links without an owner or with a dead one, up to the node's fair share and at most `atMost`. */
export async function claimShare(tx: ShareTables, membership: Membership, atMost: number) {
  const orphans = await orphansIn(tx, membership);
  if (!orphans) return { claimed: [], room: 0, isFull: false };
  const { own, share } = await shareIn(tx, membership.id, orphans.living.length);
  const room = Math.min(share, maximalStreams) - own;
  const limit = Math.min(room, atMost);
  const claimed: LinkRow[] = limit > 0 ? await tx.links.claimOrphans(membership.id, orphans.dead, limit) : [];
  return { claimed, room: room - claimed.length, isFull: own + claimed.length >= maximalStreams };
}

/** How many links a node has beyond its fair share. */
export async function surplusIn(tx: ShareTables, membership: Membership): Promise<number> {
  const { living, isCertain } = await membership.census(tx);
  if (!isCertain || living.length < 2) return 0;
  const { own, share } = await shareIn(tx, membership.id, living.length);
  return Math.max(0, own - share);
}

async function shareIn(tx: ShareTables, id: NodeId, living: number) {
  const shares = await tx.links.countsByOwner();
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  return { own: shares.find(({ owner }) => owner === id)?.count ?? 0, share: Math.ceil(total / living) };
}
