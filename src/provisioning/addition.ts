import type { AddedDevice } from "../devices/device-addition.ts";
import { growthOf } from "../devices/growth.ts";
import { NotFound } from "../model/errors.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import type { AdditionLimits } from "./addition-limits.ts";
import type { NewDevice, SizedDevice } from "./new-device.ts";

export function sized(device: NewDevice): SizedDevice {
  return { ...device, growth: growthOf(device.changes ?? [], new Map()) };
}

/** Throws a refusal unless the device can be added. The transaction has locked the users. */
export async function admit(device: SizedDevice, users: LockedUsers, limits: AdditionLimits): Promise<AddedDevice> {
  if (!users.ids.has(device.userId)) throw new NotFound("User does not exist.");
  return { ...device, typeId: await limits.admit(device) };
}
