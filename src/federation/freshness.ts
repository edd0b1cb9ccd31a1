import type { DeviceStates } from "../devices/states.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Surroundings } from "../model/surroundings.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Store } from "../store/seam.ts";
import type { FederationTables, LinkKeeper } from "./keeper.ts";

/** Derived when read, from the link's state and its owner's heartbeat: a dead owner shows by itself. */
export interface Freshness {
  readonly isPresent: boolean;
  readonly isStale: boolean;
  /** When the ecosystem last confirmed the whole state; null for a device that mirrors nothing. */
  readonly confirmedTimeMs: number | null;
}

export interface FreshnessParts {
  readonly store: Store<FederationTables>;
  readonly states: DeviceStates;
  readonly keeper: LinkKeeper;
  readonly membership: Membership;
  readonly surroundings: Surroundings;
}

/** Nothing confirmed for so long: what is shown may no longer be so, even on a stream that seems alive. */
const staleAfterMs = 15 * 60_000;

/**
 * Never written, always derived: from the follower when the link is this node's, otherwise from the link's state and
 * whether its owner lives.
 */
export async function freshnessOf(
  { store, states, keeper, membership, surroundings }: FreshnessParts,
  userId: UserId,
  deviceId: DeviceId,
): Promise<Freshness> {
  const state = await states.get(userId, deviceId);
  if (!state) throw new UnknownDevice();
  if (!state.device.isVirtual) return { isPresent: true, isStale: false, confirmedTimeMs: null };
  const follower = membership.isAlive ? keeper.follower(deviceId) : undefined;
  if (follower) return freshness(follower.isLive, follower.confirmedMs, surroundings.nowMs());
  const link = await store.read((tx) => tx.links.ofDevice(userId, deviceId));
  if (!link) throw new UnknownDevice();
  const isFollowed =
    link.owner !== null && link.owner !== membership.id && (await membership.living()).includes(link.owner);
  return freshness(link.state === "live" && isFollowed, link.confirmedMs, surroundings.nowMs());
}

function freshness(isLive: boolean, confirmedTimeMs: number, nowMs: number): Freshness {
  return { isPresent: isLive, isStale: !isLive || nowMs - confirmedTimeMs > staleAfterMs, confirmedTimeMs };
}
