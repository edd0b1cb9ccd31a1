import { BadParameter, Conflict, LimitReached, NotFound, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { deviceEntry } from "./log-entries.ts";
import type { DeviceStates } from "./states.ts";

export interface NewDevice {
  readonly userId: UserId;
  readonly name: string;
  readonly typeName: string;
}

/** Adds an ordinary device; virtual devices are created by linking an account. */
export async function addDevice(
  store: Store<Pick<Transaction, "users" | "devices" | "log">>,
  { userId, name, typeName }: NewDevice,
): Promise<DeviceId> {
  checkName("name", name);
  checkName("type", typeName);
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    if (nowMs === undefined) throw new NotFound(`User ${userId} does not exist.`);
    await checkRoom(tx, userId);
    const deviceId = await tx.devices.add({ userId, typeName, name, isVirtual: false });
    await tx.log.append(deviceEntry(userId, deviceId, nowMs, "added"));
    return deviceId;
  });
}

/**
 * Removes an ordinary device with its attributes, alerts and history. One log entry stays: it tells the readers of the
 * log that the device was removed. A virtual device is removed by unlinking its account.
 */
export async function removeDevice(
  store: Store<Pick<Transaction, "users" | "devices" | "attributes" | "triggers" | "log">>,
  states: Pick<DeviceStates, "forget">,
  userId: UserId,
  deviceId: DeviceId,
): Promise<void> {
  await store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    const [device] = await tx.devices.lock(userId, [deviceId]);
    if (nowMs === undefined || !device) throw new UnknownDevice();
    if (device.isVirtual)
      throw new Conflict(
        `Device ${deviceId} is a linked account's. Unlink it instead: breezeway link remove --user ${userId}`,
      );
    await tx.attributes.removeOfDevice(userId, deviceId);
    await tx.triggers.removeOfDevice(userId, deviceId);
    await tx.log.removeOfDevice(userId, deviceId);
    await tx.devices.remove(userId, deviceId);
    await tx.log.append(deviceEntry(userId, deviceId, nowMs, "removed"));
  });
  states.forget(deviceId);
}

/** Virtual devices count only towards the tenant's limit: a user has one for each linked account and can't add more. */
async function checkRoom(tx: Pick<Transaction, "devices">, userId: UserId): Promise<void> {
  const { devicesPerUser, devicesPerTenant } = limits;
  if (await tx.devices.hasOwn(userId, devicesPerUser)) {
    throw new LimitReached("devicesPerUser", `User ${userId} has ${devicesPerUser} devices already. Remove one first.`);
  }
  if (await tx.devices.hasInTenant(userId, devicesPerTenant)) {
    throw new LimitReached(
      "devicesPerTenant",
      `The tenant has ${devicesPerTenant} devices already. Remove some first.`,
    );
  }
}

const longestName = 128;

function checkName(parameter: string, text: string): void {
  const isValid = text.trim() !== "" && text.length <= longestName && text.isWellFormed() && !/\p{Cc}/u.test(text);
  if (!isValid) {
    throw new BadParameter(
      parameter,
      `The device's ${parameter} must be 1 to ${longestName} characters, none of them a control character.`,
    );
  }
}
