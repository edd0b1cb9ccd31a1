import { BadParameter, NotFound } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { deviceEntry } from "./log-entries.ts";

export interface NewDevice {
  readonly userId: UserId;
  readonly name: string;
  readonly typeName: string;
}

/** Gives a user an ordinary device; virtual ones come with a link. */
export async function addDevice(
  store: Store<Pick<Transaction, "users" | "devices" | "log">>,
  { userId, name, typeName }: NewDevice,
): Promise<DeviceId> {
  checkName("name", name);
  checkName("type", typeName);
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    if (nowMs === undefined) throw new NotFound(`User ${userId} does not exist.`);
    const deviceId = await tx.devices.add({ userId, typeName, name, isVirtual: false });
    await tx.log.append(deviceEntry(userId, deviceId, nowMs, "added"));
    return deviceId;
  });
}

const longestName = 128;

function checkName(parameter: string, text: string): void {
  const isSound = text.trim() !== "" && text.length <= longestName && text.isWellFormed() && !/\p{Cc}/u.test(text);
  if (!isSound) {
    throw new BadParameter(
      parameter,
      `The device's ${parameter} must be 1 to ${longestName} characters, none of them a control character.`,
    );
  }
}
