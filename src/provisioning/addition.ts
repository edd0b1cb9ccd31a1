import type { AddedDevice } from "../devices/device-addition.ts";
import { NotFound } from "../model/errors.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import type { AdditionLimits } from "./addition-limits.ts";
import type { SizedDevice } from "./sized-device.ts";

/** Throws a refusal unless the device can be added. The transaction has locked the users. */
export async function admit(device: SizedDevice, users: LockedUsers, limits: AdditionLimits): Promise<AddedDevice> {
  if (!users.ids.has(device.userId)) throw new NotFound("User does not exist.");
  return { ...device, typeId: await limits.admit(device) };
}
