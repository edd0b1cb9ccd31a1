import type { ReadAttribute } from "../../../devices/read.ts";
import type { DeviceState } from "../../../devices/states.ts";
import type { AttributeWrite } from "../../../devices/write.ts";
import type { PastChange } from "../../../events/history.ts";
import type { Freshness } from "../../../federation/freshness.ts";
import type { DeviceId, TenantId, UserId } from "../../../model/ids.ts";
import { type CheckUser, checkedBy } from "./checked-user.ts";

export type ShownDeviceRow = DeviceState["device"];

/** A device with all its attributes, blank ones too, and who receives its events. */
export interface ShownDeviceState {
  readonly device: ShownDeviceRow;
  readonly freshness: Freshness;
  readonly attributes: readonly ReadAttribute[];
  readonly webhooks: readonly { readonly id: string; readonly clientId: string; readonly isOfTenant: boolean }[];
}

export interface PastChanges {
  readonly changes: readonly PastChange[];
  /** Whether changes of this time are missing, because there are too many. */
  readonly isCut: boolean;
}

/** What operators see of a user's devices, and write there. Each function is about one user, its first parameter. */
export interface HomeDevices {
  state(userId: UserId, deviceId: DeviceId): Promise<ShownDeviceState>;
  history(userId: UserId, deviceId: DeviceId, fromMs: number): Promise<PastChanges>;
  write(userId: UserId, deviceId: DeviceId, tenantId: TenantId, writes: readonly AttributeWrite[]): Promise<void>;
}

/** The same for an operator who reaches some tenants only. */
export function homeDevicesWithin(devices: HomeDevices, check: CheckUser): HomeDevices {
  const checked = checkedBy(check);
  return { state: checked(devices.state), history: checked(devices.history), write: checked(devices.write) };
}
