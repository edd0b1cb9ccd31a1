import type { CommitTables } from "../devices/commit.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import { attributeName, parseAttributeName } from "../virtual-device/attribute-names.ts";
import type { Eviction } from "../virtual-device/index-map.ts";
import { attributesOfLostSlots } from "../virtual-device/lost-slots.ts";
import type { LinkKey } from "./link-key.ts";

/**
 * Disables the alerts that watch or write to a slot which passed to another id: they were made for the previous device,
 * and must neither fire for the new one nor switch its fan. This happens only when a whole range of slots is full.
 */
export async function disableAlertsOn(
  tx: CommitTables,
  { userId, deviceId }: Pick<LinkKey, "userId" | "deviceId">,
  evicted: readonly Eviction[],
): Promise<void> {
  const lost = attributesOfLostSlots(evicted);
  const lostAttributeOf = (trigger: TriggerRow): number | undefined => {
    if (trigger.deviceId === deviceId && lost.has(trigger.key as number)) return trigger.key as number;
    const written = trigger.targets
      .filter((target) => target.deviceId === deviceId)
      .map((target) => parseAttributeName(target.attributeName)?.number);
    return written.find((number) => number !== undefined && lost.has(number));
  };
  for (const trigger of await tx.triggers.ofUser(userId)) {
    const number = trigger.isEnabled ? lostAttributeOf(trigger) : undefined;
    if (number === undefined) continue;
    const reason = `${attributeName(number)} has passed to another device`;
    await tx.triggers.change(userId, trigger.id, { isEnabled: false, reason });
  }
}
