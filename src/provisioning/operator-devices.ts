import { deviceEntry } from "../devices/log-entries.ts";
import type { DeviceStates } from "../devices/states.ts";
import { Conflict, LimitReached, NotFound, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { checkNewDevice, type NewDevice } from "./new-device.ts";

/** Adds an ordinary device for an operator. Clients add devices through `provisioning.ts`. */
export async function addDevice(
  store: Store<Pick<Transaction, "users" | "devices" | "deviceTypeMaps" | "log">>,
  device: Pick<NewDevice, "userId" | "name" | "typeName">,
  ownThings?: OwnThings,
): Promise<DeviceId> {
  checkNewDevice(device);
  const { userId, name, typeName } = device;
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    if (nowMs === undefined) throw new NotFound(`User ${userId} does not exist.`);
    await checkLimits(tx, userId);
    const deviceId = await tx.devices.add({ userId, typeName, name, isVirtual: false });
    await tx.log.append(deviceEntry(userId, deviceId, nowMs, "added"));
    const [added] = ownThings ? await tx.devices.lock(userId, [deviceId]) : [];
    if (added) await ownThings?.log(tx, added, "added", nowMs);
    return deviceId;
  });
}

export type DeviceRemovalTables = Pick<
  Transaction,
  "users" | "devices" | "deviceTypeMaps" | "attributes" | "triggers" | "thingTriggers" | "log"
>;

/** Removes an ordinary device for an operator. A virtual device is removed by unlinking its account. */
export async function removeDevice(
  store: Store<DeviceRemovalTables>,
  states: Pick<DeviceStates, "forget">,
  userId: UserId,
  deviceId: DeviceId,
  ownThings?: OwnThings,
): Promise<void> {
  await store.transaction((tx) =>
    removeIn(
      tx,
      userId,
      deviceId,
      `Device ${deviceId} is a connected account's. Disconnect it instead: breezeway link remove --user ${userId}`,
      ownThings,
    ),
  );
  states.forget(deviceId);
}

/**
 * Removes an ordinary device with its attributes, alerts and history, and logs the removal of the device and of its
 * thing. For a virtual device it throws Conflict with the sentence.
 */
export async function removeIn(
  tx: DeviceRemovalTables,
  userId: UserId,
  deviceId: DeviceId,
  linkedSentence: string,
  ownThings?: OwnThings,
): Promise<void> {
  const nowMs = await tx.users.lock(userId);
  const [device] = await tx.devices.lock(userId, [deviceId]);
  if (nowMs === undefined || !device) throw new UnknownDevice();
  if (device.isVirtual) throw new Conflict(linkedSentence);
  await tx.attributes.removeOfDevice(userId, deviceId);
  await tx.triggers.removeOfDevice(userId, deviceId);
  await tx.thingTriggers.removeOfDevice(userId, deviceId);
  await tx.log.removeOfDevice(userId, deviceId);
  await tx.devices.remove(userId, deviceId);
  await ownThings?.log(tx, device, "gone", nowMs);
  await tx.log.append(deviceEntry(userId, deviceId, nowMs, "removed"));
}

/** Virtual devices count only towards the tenant's limit: a user has one for each linked account and can't add more. */
async function checkLimits(tx: Pick<Transaction, "devices">, userId: UserId): Promise<void> {
  const { devicesPerUser, devicesPerTenant } = limits;
  if (await tx.devices.hasOwn(userId, devicesPerUser)) throw tooManyOfUser(userId);
  if (await tx.devices.hasInTenant(userId, devicesPerTenant)) throw tooManyOfTenant();
}

export function tooManyOfUser(userId: UserId): LimitReached {
  const { devicesPerUser } = limits;
  return new LimitReached("devicesPerUser", `User ${userId} has ${devicesPerUser} devices already. Remove one first.`);
}

export function tooManyOfTenant(): LimitReached {
  const { devicesPerTenant } = limits;
  return new LimitReached("devicesPerTenant", `The tenant has ${devicesPerTenant} devices already. Remove some first.`);
}
