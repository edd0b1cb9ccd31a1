import type { NodeId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";

/** How the links of a shared store are divided among its nodes: as evenly as they can be. */
export type ShareTables = Pick<Transaction, "links" | "nodes">;

/** One address can have so many connections to an ecosystem at once: about half of the ports that there are. */
export const streamsAtMost = 14_000;

/** Among whom links are to be shared, and whose are to be had; undefined when none are, or nobody can tell yet. */
export async function orphansIn(tx: ShareTables, membership: Membership) {
  const { living, isSettled } = await membership.census(tx);
  if (!isSettled) return undefined;
  const owners = await tx.links.owners();
  const dead = owners.filter((owner): owner is NodeId => owner !== null && !living.includes(owner));
  return dead.length > 0 || owners.includes(null) ? { living, dead } : undefined;
}

/** Takes what is nobody's or was left by the dead, up to a node's fair share and at most so many. */
export async function claimShare(tx: ShareTables, membership: Membership, atMost: number) {
  const orphans = await orphansIn(tx, membership);
  if (!orphans) return { claimed: [], room: 0, isFull: false };
  const { own, share } = await shareIn(tx, membership.id, orphans.living.length);
  const room = Math.min(share, streamsAtMost) - own;
  const limit = Math.min(room, atMost);
  const claimed: LinkRow[] = limit > 0 ? await tx.links.claim(membership.id, orphans.dead, limit) : [];
  return { claimed, room: room - claimed.length, isFull: own + claimed.length >= streamsAtMost };
}

/** How many links a node has beyond its fair share. */
export async function surplusIn(tx: ShareTables, membership: Membership): Promise<number> {
  const { living, isSettled } = await membership.census(tx);
  if (!isSettled || living.length < 2) return 0;
  const { own, share } = await shareIn(tx, membership.id, living.length);
  return Math.max(0, own - share);
}

async function shareIn(tx: ShareTables, id: NodeId, living: number) {
  const shares = await tx.links.shares();
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  return { own: shares.find(({ owner }) => owner === id)?.count ?? 0, share: Math.ceil(total / living) };
}
