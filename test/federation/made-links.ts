import type { LinkKey } from "../../src/federation/link-key.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { noonMs } from "./manual-runtime.ts";

/** Ada's link, as its owner node identifies it. */
export const adasLink: LinkKey = {
  userId: 1 as UserId,
  deviceId: 7 as DeviceId,
  ecosystem: "nest",
  ownership: { owner: "node-a" as NodeId, epoch: 3 },
};

/** The same link as a stored row: waiting for its first stream, unless the test says otherwise. */
export function linkRow(row: Partial<LinkRow> = {}): LinkRow {
  return {
    userId: adasLink.userId,
    deviceId: adasLink.deviceId,
    ecosystem: adasLink.ecosystem,
    ...adasLink.ownership,
    sealedToken: "v1.key.iv.body",
    sealedCredential: null,
    renewingMs: null,
    state: "waiting",
    reason: "just linked",
    blindness: { sinceMs: noonMs, cause: "just linked" },
    confirmedMs: noonMs,
    indexMap: "{}",
    notices: "{}",
    ...row,
  };
}
