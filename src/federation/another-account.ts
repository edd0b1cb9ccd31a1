import type { CommitTables, DeviceUpdate } from "../devices/commit.ts";
import type { Home } from "../home/home.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { blankValues, mirrorChanges } from "../virtual-device/attribute-values.ts";
import { assignIndexes } from "../virtual-device/index-map.ts";
import { mirror } from "../virtual-device/mirror.ts";
import { isPresent } from "../virtual-device/slots.ts";
import { decodeIndexMap, encodeIndexMap } from "../virtual-device/stored-index-map.ts";
import { disableAlertsOn } from "./alerts-on-lost-slots.ts";
import { toAttributeChange } from "./lane.ts";
import { encodeNotices } from "./notices.ts";

/**
 * Whether the account has structures, but none of those that the link shows. Only then is the read that proved the
 * token mirrored. For a new token of the same account the stream goes on: it may have brought a newer state than that
 * read.
 */
export function isAnotherAccount({ structures }: Home, { indexMap }: Pick<LinkRow, "indexMap">): boolean {
  if (!structures.isWhole || structures.byId.size === 0) return false;
  const shown = decodeIndexMap(indexMap).structures.filter(isPresent);
  return shown.length > 0 && shown.every(({ id }) => !structures.byId.has(id));
}

/** Changes attributes and index map to another account in one transaction, so that a client never reads a mixture. */
export async function switchAccount(
  tx: CommitTables,
  { userId, deviceId, indexMap }: LinkRow,
  home: Home,
): Promise<DeviceUpdate> {
  const values = [...blankValues];
  for (const { key, value } of await tx.attributes.all(userId, deviceId)) values[key as number] = value;
  const { map, overLimit, evicted } = assignIndexes(decodeIndexMap(indexMap), home);
  if (evicted.length > 0) await disableAlertsOn(tx, { userId, deviceId }, evicted);
  await tx.links.setMirror(userId, deviceId, encodeIndexMap(map), encodeNotices(overLimit, home, map));
  return { deviceId, changes: mirrorChanges(values, mirror(home, map, values)).map(toAttributeChange) };
}
