import type { AddedDevice } from "../devices/device-addition.ts";
import { growthOf } from "../devices/growth.ts";
import type { NewDevice } from "./new-device.ts";

/** A device to be added, and what its first values take: that is counted before the transaction begins. */
export type SizedDevice = NewDevice & Pick<AddedDevice, "growth">;

export function sized(device: NewDevice): SizedDevice {
  return { ...device, growth: growthOf(device.changes ?? [], new Map()) };
}
