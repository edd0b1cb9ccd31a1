import type { CommitTables } from "../devices/commit.ts";
import type { DeviceId } from "../model/ids.ts";
import type { AlertRule } from "../model/trigger.ts";
import { attributeName, parseAttributeName } from "../virtual-device/attribute-names.ts";
import type { Eviction } from "../virtual-device/index-map.ts";
import { attributesOfLostSlots } from "../virtual-device/lost-slots.ts";
import type { LinkKey } from "./link-key.ts";

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
  const reasonFor = (number: number) => `${attributeName(number)} has passed to another device`;
  for (const trigger of await tx.triggers.ofUser(userId)) {
    if (!trigger.isEnabled) continue;
    const isWatchingLost = trigger.deviceId === deviceId && lost.has(trigger.key as number);
    const number = isWatchingLost ? (trigger.key as number) : lostTarget(trigger, deviceId, lost);
    if (number === undefined) continue;
    await tx.triggers.change(userId, trigger.id, { isEnabled: false, reason: reasonFor(number) });
  }
  for (const trigger of await tx.thingTriggers.ofUser(userId)) {
    const number = trigger.isEnabled ? lostTarget(trigger, deviceId, lost) : undefined;
    if (number === undefined) continue;
    await tx.thingTriggers.change(userId, trigger.id, { isEnabled: false, reason: reasonFor(number) });
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
