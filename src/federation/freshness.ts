import type { DeviceStates, ReadBeside } from "../devices/states.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { FederationTables, LinkKeeper } from "./keeper.ts";

/**
 * Whether a device's state is current. Derived at each read from the link's state and its owner's heartbeat, so a dead
 * owner needs no cleanup.
 */
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

/** After this time without a confirmation the state counts as stale, even if the stream seems alive. */
export const staleAfterMs = 15 * 60_000;

/** An ordinary device is always present and never stale. */
export const ordinaryFreshness: Freshness = { isPresent: true, isStale: false, confirmedTimeMs: null };

export async function freshnessOf(parts: FreshnessParts, userId: UserId, deviceId: DeviceId): Promise<Freshness> {
  const state = await parts.states.get(userId, deviceId);
  const freshness = state && (await freshnessOfEach(parts, [state.device])).get(deviceId);
  if (!freshness) throw new UnknownDevice();
  return freshness;
}

/**
 * Derived from the follower when this node owns the link, otherwise from the link's stored state and whether its owner
 * is alive. One query serves all devices. A virtual device whose link has just ended is left out.
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
  const stored = await store.read((tx) => storedFreshness(tx, membership, elsewhere, nowMs));
  return new Map([...known, ...stored]);
}

/** Freshness of links that this node does not follow. */
async function storedFreshness(
  tx: Pick<FederationTables, "links" | "nodes">,
  membership: Membership,
  devices: readonly Pick<DeviceRow, "userId" | "id">[],
  nowMs: number,
): Promise<ReadonlyMap<DeviceId, Freshness>> {
  const [links, nodes] = await Promise.all([tx.links.standings(devices), membership.living(tx)]);
  const living = new Set(nodes);
  // A link of this node without a follower here is followed by no node.
  living.delete(membership.id);
  return new Map(
    links.map(({ deviceId, state, owner, confirmedMs }) => {
      const isFollowed = owner !== null && living.has(owner);
      return [deviceId, freshness(state === "live" && isFollowed, confirmedMs, nowMs)];
    }),
  );
}

/** The freshness of one device whose state is read too. */
export interface FreshnessBeside {
  /** Reads what is needed in the transaction that checks the version of the state. */
  readonly read: ReadBeside;
  /** Undefined when the device is virtual and its link has just ended. */
  of(device: DeviceRow): Promise<Freshness | undefined>;
}

export function freshnessBeside(parts: Omit<FreshnessParts, "states">): FreshnessBeside {
  let stored: ReadonlyMap<DeviceId, Freshness> | undefined;
  return {
    async read(tx, device) {
      if (freshnessHere(parts, device)) return;
      stored = await storedFreshness(tx, parts.membership, [device], parts.runtime.nowMs());
    },
    of: async (device) =>
      freshnessHere(parts, device) ?? (stored ?? (await freshnessOfEach(parts, [device]))).get(device.id),
  };
}

/** Freshness of one device without a query; undefined when the store must be asked. */
export function freshnessHere(
  { keeper, membership, runtime }: Pick<FreshnessParts, "keeper" | "membership" | "runtime">,
  { id, isVirtual }: Pick<DeviceRow, "id" | "isVirtual">,
): Freshness | undefined {
  if (!isVirtual) return ordinaryFreshness;
  const supervisor = membership.isAlive ? keeper.supervisor(id) : undefined;
  return supervisor && freshness(supervisor.isLive, supervisor.confirmedMs, runtime.nowMs(), supervisor.unconfirmedMs);
}

/** The links that this node follows, counted. */
export function tallyOf(keeper: LinkKeeper, nowMs: number) {
  const byState = { live: 0, waiting: 0, needs_reauth: 0 };
  const paused = { error: 0, token: 0 };
  let stale = 0;
  let slowed = 0;
  for (const { state, isLive, confirmedMs, unconfirmedMs, pausedBy, isSlowed } of keeper.standings()) {
    byState[state] += 1;
    if (pausedBy) paused[pausedBy] += 1;
    if (isSlowed) slowed += 1;
    if (freshness(isLive, confirmedMs, nowMs, unconfirmedMs).isStale) stale += 1;
  }
  return { byState, stale, paused, slowed };
}

/** `unconfirmedMs`: on the owner's monotonic clock. After the clock was set back, the times alone would show no age. */
function freshness(isLive: boolean, confirmedTimeMs: number, nowMs: number, unconfirmedMs = 0): Freshness {
  const ageMs = Math.max(nowMs - confirmedTimeMs, unconfirmedMs);
  return { isPresent: isLive, isStale: !isLive || ageMs > staleAfterMs, confirmedTimeMs };
}
