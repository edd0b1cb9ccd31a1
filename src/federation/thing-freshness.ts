import type { DeviceId, UserId } from "../model/ids.ts";
import { type Freshness, type FreshnessParts, freshnessOfEach } from "./freshness.ts";

/**
 * Freshness of the things of these links. In a rolling upgrade a node of the version before may own a link: it mirrors
 * the attributes and does not write the things, so they are stale however fresh the attributes are.
 */
export async function thingFreshnessOfEach(
  parts: Omit<FreshnessParts, "states">,
  links: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
): Promise<ReadonlyMap<DeviceId, Freshness>> {
  const devices = [
    ...new Map(links.map(({ userId, deviceId }) => [deviceId, { userId, id: deviceId, isVirtual: true }])).values(),
  ];
  const known = await freshnessOfEach(parts, devices);
  if (!parts.store.isShared) return known;
  const unwritten = await parts.store.read(async (tx) => {
    const older = new Set(await tx.nodes.withoutThings());
    if (older.size === 0) return [];
    return (await tx.links.standings(devices)).filter(({ owner }) => owner !== null && older.has(owner));
  });
  const stale = unwritten.flatMap(({ deviceId }): [DeviceId, Freshness][] => {
    const freshness = known.get(deviceId);
    return freshness ? [[deviceId, { ...freshness, isPresent: false, isStale: true }]] : [];
  });
  return new Map([...known, ...stale]);
}
