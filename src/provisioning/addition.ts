import type { AddedDevice } from "../devices/device-addition.ts";
import { growthOf } from "../devices/growth.ts";
import { NotFound } from "../model/errors.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import type { AdditionLimits } from "./addition-limits.ts";
import type { NewDevice } from "./new-device.ts";

/** A device to be added, and what its first values take: that is counted before the transaction begins. */
export type SizedDevice = NewDevice & Pick<AddedDevice, "growth">;

export function sized(device: NewDevice): SizedDevice {
  return { ...device, growth: growthOf(device.changes ?? [], new Map()) };
}

/** Throws a refusal unless the device can be added. The transaction has locked the users. */
export async function admit(device: SizedDevice, users: LockedUsers, limits: AdditionLimits): Promise<AddedDevice> {
  if (!users.ids.has(device.userId)) throw new NotFound("User does not exist.");
  return { ...device, typeId: await limits.admit(device) };
}
