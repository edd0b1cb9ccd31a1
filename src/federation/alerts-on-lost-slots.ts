import type { CommitTables } from "../devices/commit.ts";
import type { DeviceId, TriggerId } from "../model/ids.ts";
import type { AlertRule } from "../model/trigger.ts";
import { attributeName, parseAttributeName } from "../virtual-device/attribute-names.ts";
import type { Eviction } from "../virtual-device/index-map.ts";
import { attributesOfLostSlots } from "../virtual-device/lost-slots.ts";
import type { LinkKey } from "./link-key.ts";

/** Alerts read in one go. */
const alertsAtOnce = 500;

/**
 * Disables the alerts that watch or write to a slot which passed to another id: they were made for the previous device,
 * and must neither fire for the new one nor switch its fan. This happens only when a whole range of slots is full. An
 * alert on a thing watches no slot, so only its writes count.
 */
export async function disableAlertsOn(
  tx: CommitTables,
  { userId, deviceId }: Pick<LinkKey, "userId" | "deviceId">,
  evicted: readonly Eviction[],
): Promise<void> {
  const lost = attributesOfLostSlots(evicted);
  const disabled = new Map<number, TriggerId[]>();
  for (const { id, key } of await tx.triggers.watching(userId, deviceId, [...lost])) add(disabled, key as number, id);
  await disableAll(tx.triggers, userId, disabled);
  for (const table of [tx.triggers, tx.thingTriggers]) {
    const writing = new Map<number, TriggerId[]>();
    for (let afterId = 0; ; ) {
      const page = await table.enabledWriting(userId, `"deviceId":${deviceId}`, afterId, alertsAtOnce);
      for (const alert of page) {
        const number = lostTarget(alert, deviceId, lost);
        if (number !== undefined) add(writing, number, alert.id);
      }
      if (page.length < alertsAtOnce) break;
      afterId = page.at(-1)!.id;
    }
    await disableAll(table, userId, writing);
  }
}

function add(ids: Map<number, TriggerId[]>, number: number, id: TriggerId): void {
  ids.set(number, [...(ids.get(number) ?? []), id]);
}

async function disableAll(
  table: Pick<CommitTables["triggers"], "disable">,
  userId: LinkKey["userId"],
  disabled: ReadonlyMap<number, readonly TriggerId[]>,
): Promise<void> {
  for (const [number, ids] of disabled) {
    await table.disable(userId, ids, `${attributeName(number)} has passed to another device`);
  }
}

/** The first attribute of a lost slot that the alert writes. */
function lostTarget(
  { targets }: Pick<AlertRule, "targets">,
  deviceId: DeviceId,
  lost: ReadonlySet<number>,
): number | undefined {
  const written = targets
    .filter((target) => target.deviceId === deviceId)
    .map((target) => parseAttributeName(target.attributeName)?.number);
  return written.find((number) => number !== undefined && lost.has(number));
}
