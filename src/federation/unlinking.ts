import { deviceEntry, thingEntry } from "../devices/log-entries.ts";
import type { ThingChange } from "../devices/thing-writes.ts";
import { NotFederated } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store } from "../store/seam.ts";
import type { SealedCredential } from "./credential.ts";
import type { FederationTables } from "./keeper.ts";

/** Numbers of rows that unlinking removed. */
export interface RemovedCounts {
  readonly attributes: number;
  readonly history: number;
  readonly blindIntervals: number;
  readonly commands: number;
  readonly alerts: number;
}

/**
 * Removes a link and its virtual device with all their data, in one transaction. Two log entries
 * stay: they tell the readers of the log that the device and its things were removed, and nothing about their content.
 */
export function removeLink(
  store: Store<FederationTables>,
  userId: UserId,
  ecosystem: string,
): Promise<{ readonly deviceId: DeviceId; readonly sealed: SealedCredential; readonly removed: RemovedCounts }> {
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    const link = nowMs === undefined ? undefined : await tx.links.find(userId, ecosystem);
    if (nowMs === undefined || !link) throw new NotFederated(ecosystem);
    const { deviceId, sealedToken, sealedCredential } = link;
    const removed: RemovedCounts = {
      attributes: await tx.attributes.removeOfDevice(userId, deviceId),
      history: await tx.log.removeOfDevice(userId, deviceId),
      blindIntervals: await tx.blindIntervals.removeOfDevice(userId, deviceId),
      commands:
        (await tx.fanRequests.removeOfDevice(userId, deviceId)) +
        (await tx.thingCommands.removeOfDevice(userId, deviceId)),
      alerts:
        (await tx.triggers.removeOfDevice(userId, deviceId)) +
        (await tx.thingTriggers.removeOfDevice(userId, deviceId)),
    };
    const things = await tx.things.removeOfDevice(userId, deviceId);
    await tx.links.remove(userId, deviceId);
    await tx.devices.remove(userId, deviceId);
    if (things.length > 0) await tx.log.append(thingEntry(userId, deviceId, nowMs, things.map(goneThing)));
    await tx.log.append(deviceEntry(userId, deviceId, nowMs, "removed"));
    return { deviceId, sealed: { sealedToken, sealedCredential }, removed };
  });
}

function goneThing(thingId: string): ThingChange {
  return { thingId, what: "gone", fields: [] };
}
