import type { Federation } from "../federation/federation.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { OpenStore } from "../store/seam.ts";

/** Which links assistants must show as not reachable. A link that has just ended counts as stale. */
export function staleLinksOn(store: OpenStore, federation: Pick<Federation, "thingFreshnessOfEach">) {
  const staleOfEach = async (
    links: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
  ): Promise<ReadonlyMap<DeviceId, boolean>> => {
    const freshness = await federation.thingFreshnessOfEach(links);
    return new Map([...freshness].map(([deviceId, { isStale }]) => [deviceId, isStale]));
  };
  return {
    staleOfEach,
    async staleLinks(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly DeviceId[]>> {
      if (userIds.length === 0) return new Map();
      const links = await store.read(async (tx) =>
        (await Promise.all(userIds.map((id) => tx.links.ofUser(id)))).flat(),
      );
      const stale = links.length === 0 ? new Map<DeviceId, boolean>() : await staleOfEach(links);
      const turned = links.filter(({ deviceId }) => stale.get(deviceId) ?? true);
      return new Map(
        [...Map.groupBy(turned, ({ userId }) => userId)].map(([userId, of]) => [
          userId,
          of.map(deviceOf).sort(ascending),
        ]),
      );
    },
  };
}

const deviceOf = ({ deviceId }: { readonly deviceId: DeviceId }) => deviceId;
const ascending = (one: number, other: number) => one - other;
