import type { ApplyInGroup, CommitTables } from "../devices/commit.ts";
import { deviceEntry } from "../devices/log-entries.ts";
import type { DeviceState } from "../devices/states.ts";
import { NotFound } from "../model/errors.ts";
import type { DeviceId } from "../model/ids.ts";
import type { NewOwnThings } from "../own-things/own-things.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import type { AdditionLimits } from "./addition-limits.ts";
import type { NewDevice } from "./new-device.ts";

/** A device that is within all limits, with the id of its type. */
export interface AdmittedDevice extends NewDevice {
  readonly typeId: number;
}

/** Throws a refusal unless the device can be added. The transaction has locked the users. */
export async function admit(device: NewDevice, users: LockedUsers, limits: AdditionLimits): Promise<AdmittedDevice> {
  if (!users.ids.has(device.userId)) throw new NotFound("User does not exist.");
  return { ...device, typeId: await limits.admit(device) };
}

/**
 * Adds admitted devices within a transaction that has locked their users. It has few statements that wait for an
 * answer of the store, however many devices there are.
 */
export async function addAdmitted(
  tx: CommitTables,
  apply: ApplyInGroup,
  devices: readonly AdmittedDevice[],
  nowMs: number,
  things?: NewOwnThings,
): Promise<readonly DeviceState[]> {
  const rows = devices.map(({ userId, name, typeName, typeId, room = null }) => {
    return { userId, name, typeName, typeId, room, isVirtual: false };
  });
  const ids = await tx.devices.addMany(rows);
  for (const [index, { userId, typeId }] of devices.entries()) {
    const id = ids[index]!;
    await tx.log.append(deviceEntry(userId, id, nowMs, "added"));
    await things?.added(tx, { id, userId, typeId }, nowMs);
  }
  const times = await writeFirstValues(apply, devices, ids);
  return rows.map((row, index) => {
    const id = ids[index]!;
    const timeMs = times.get(id) ?? 0;
    const attributes = new Map((devices[index]!.changes ?? []).map(({ key, value }) => [key, { value, timeMs }]));
    return { device: { ...row, id, lastTimeMs: timeMs }, attributes };
  });
}

/** Returns the time of each device's commit. */
async function writeFirstValues(
  apply: ApplyInGroup,
  devices: readonly AdmittedDevice[],
  ids: readonly DeviceId[],
): Promise<ReadonlyMap<DeviceId, number>> {
  const written = devices
    .map(({ userId, changes = [] }, index) => ({ userId, changes, deviceId: ids[index]!, isNew: true as const }))
    .filter(({ changes }) => changes.length > 0);
  const times = new Map<DeviceId, number>();
  for (const [userId, updates] of Map.groupBy(written, (one) => one.userId)) {
    const commits = await apply({ userId, cause: { by: "administrator" }, updates });
    for (const { deviceId, timeMs } of commits) times.set(deviceId, timeMs);
  }
  return times;
}
