import type { DeviceStates } from "../devices/states.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
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
  readonly runtime: Runtime;
}

/** Nothing confirmed for so long: what is shown may no longer be so, even on a stream that seems alive. */
export const staleAfterMs = 15 * 60_000;

/** A device that mirrors nothing is always there and never behind. */
const always: Freshness = { isPresent: true, isStale: false, confirmedTimeMs: null };

export async function freshnessOf(parts: FreshnessParts, userId: UserId, deviceId: DeviceId): Promise<Freshness> {
  const state = await parts.states.get(userId, deviceId);
  const freshness = state && (await freshnessOfEach(parts, [state.device])).get(deviceId);
  if (!freshness) throw new UnknownDevice();
  return freshness;
}

/**
 * Never written, always derived: from the follower when the link is this node's, otherwise from the link's state and
 * whether its owner lives. However many devices, the store is asked once for all; a virtual device whose link has just
 * ended is not in the answer.
 */
export async function freshnessOfEach(
  { store, keeper, membership, runtime }: Omit<FreshnessParts, "states">,
  devices: readonly Pick<DeviceRow, "userId" | "id" | "isVirtual">[],
): Promise<ReadonlyMap<DeviceId, Freshness>> {
  const nowMs = runtime.nowMs();
  const known = new Map<DeviceId, Freshness>();
  const elsewhere: Pick<DeviceRow, "userId" | "id">[] = [];
  for (const device of devices) {
    const here = freshnessHere({ keeper, membership, runtime }, device);
    if (here) known.set(device.id, here);
    else elsewhere.push(device);
  }
  if (elsewhere.length === 0) return known;
  const [links, nodes] = await store.read((tx) => Promise.all([tx.links.standings(elsewhere), membership.living(tx)]));
  const living = new Set(nodes);
  // What is this node's and has no follower here is followed by nobody.
  living.delete(membership.id);
  for (const { deviceId, state, owner, confirmedMs } of links) {
    const isFollowed = owner !== null && living.has(owner);
    known.set(deviceId, freshness(state === "live" && isFollowed, confirmedMs, nowMs));
  }
  return known;
}

/** The same of one device, where this node knows it by itself: undefined when the store has to be asked. */
export function freshnessHere(
  { keeper, membership, runtime }: Pick<FreshnessParts, "keeper" | "membership" | "runtime">,
  { id, isVirtual }: Pick<DeviceRow, "id" | "isVirtual">,
): Freshness | undefined {
  if (!isVirtual) return always;
  const supervisor = membership.isAlive ? keeper.supervisor(id) : undefined;
  return supervisor && freshness(supervisor.isLive, supervisor.confirmedMs, runtime.nowMs());
}

/** The links that this node follows, counted. */
export function tallyOf(keeper: LinkKeeper, nowMs: number) {
  const byState = { live: 0, waiting: 0, needs_reauth: 0 };
  const paused = { error: 0, token: 0 };
  let stale = 0;
  for (const { state, isLive, confirmedMs, pausedBy } of keeper.standings()) {
    byState[state] += 1;
    if (pausedBy) paused[pausedBy] += 1;
    if (freshness(isLive, confirmedMs, nowMs).isStale) stale += 1;
  }
  return { byState, stale, paused };
}

function freshness(isLive: boolean, confirmedTimeMs: number, nowMs: number): Freshness {
  return { isPresent: isLive, isStale: !isLive || nowMs - confirmedTimeMs > staleAfterMs, confirmedTimeMs };
}
