import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { makeHome } from "../contracts/store/home.ts";
import { noonMs } from "./manual-runtime.ts";

export type StoredLink = Pick<LinkRow, "userId" | "deviceId" | "sealedToken">;

/** Links that a node stored before a restart; their tokens are sealed as `sealed <number>`. */
export async function storeLinks(
  store: OpenStore,
  count: number,
  rowOf: (number: number) => Partial<LinkRow> & { readonly owner?: NodeId },
): Promise<StoredLink[]> {
  const links: StoredLink[] = [];
  for (let number = 1; number <= count; number++) {
    const { userId } = await makeHome(store, { devices: 0, name: `neighbour ${number}` });
    const sealedToken = `sealed ${number}`;
    const deviceId = await store.transaction(async (tx) => {
      const deviceId = await tx.devices.add({ userId, typeName: "EcosystemAccount", name: "Nest", isVirtual: true });
      await tx.links.add({
        userId,
        deviceId,
        ecosystem: "nest",
        sealedToken,
        state: "live",
        reason: "",
        blindness: null,
        owner: "node-a" as NodeId,
        confirmedMs: noonMs,
        indexMap: encodeIndexMap(emptyIndexMap),
        notices: "{}",
        ...rowOf(number),
      });
      return deviceId;
    });
    links.push({ userId, deviceId, sealedToken });
  }
  return links;
}

/** A living node has taken the link and follows it with a live stream. */
export async function followBy(store: OpenStore, owner: NodeId, userId: UserId, deviceId: DeviceId): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.nodes.beat(owner);
    await tx.links.takeOver(userId, deviceId, owner);
    await tx.links.setState(userId, deviceId, { state: "live", reason: "", blindness: null });
  });
}
