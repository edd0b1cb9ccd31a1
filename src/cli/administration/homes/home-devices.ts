import type { ReadAttribute } from "../../../devices/read.ts";
import type { DeviceState } from "../../../devices/states.ts";
import type { AttributeWrite } from "../../../devices/write.ts";
import type { PastChange } from "../../../events/history.ts";
import type { Freshness } from "../../../federation/freshness.ts";
import type { DeviceId, TenantId, UserId } from "../../../model/ids.ts";
import { type CheckUser, checkedBy } from "./checked-user.ts";

export type ShownDeviceRow = DeviceState["device"];

/** A device with all its attributes, blank ones too, and the webhooks that receive its events. */
export interface ShownDeviceState {
  readonly device: ShownDeviceRow;
  readonly freshness: Freshness;
  readonly attributes: readonly ReadAttribute[];
  readonly webhooks: readonly { readonly id: string; readonly clientId: string; readonly isOfTenant: boolean }[];
}

export interface PastChanges {
  readonly changes: readonly PastChange[];
  /** Whether the list was cut, because the period has too many changes. */
  readonly isCut: boolean;
}

/** What operators see of a user's devices, and write there. Each function is about one user, its first parameter. */
export interface HomeDevices {
  state(userId: UserId, deviceId: DeviceId): Promise<ShownDeviceState>;
  history(userId: UserId, deviceId: DeviceId, fromMs: number): Promise<PastChanges>;
  write(userId: UserId, deviceId: DeviceId, tenantId: TenantId, writes: readonly AttributeWrite[]): Promise<void>;
}

/** The functions with a check that the operator reaches the user's tenant. */
export function homeDevicesWithin(devices: HomeDevices, check: CheckUser): HomeDevices {
  const checked = checkedBy(check);
  return { state: checked(devices.state), history: checked(devices.history), write: checked(devices.write) };
}
