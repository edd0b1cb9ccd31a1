import type { DeviceReading } from "../../devices/read.ts";
import type { DeviceState } from "../../devices/states.ts";
import type { Federation } from "../../federation/federation.ts";
import type { Freshness } from "../../federation/freshness.ts";
import type { Principal } from "../../identity/principal.ts";
import { UnknownDevice } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";

export interface CurrentDeviceParts {
  readonly devices: Pick<DeviceReading, "state" | "cachedState">;
  readonly federation: Pick<Federation, "freshnessBeside" | "freshnessHere">;
}

/** The present state of a device, and how fresh it is. */
export interface CurrentDevice {
  readonly state: DeviceState;
  readonly freshness: Freshness;
}

/**
 * A device that the caller may access. Returned without a promise when state and freshness are in memory, as mostly on
 * SQLite.
 */
export function currentDevice(
  parts: CurrentDeviceParts,
  caller: Principal,
  deviceId: DeviceId,
): CurrentDevice | Promise<CurrentDevice> {
  const state = parts.devices.cachedState(caller, deviceId);
  const freshness = state && parts.federation.freshnessHere(state.device);
  return freshness ? { state, freshness } : readFromStore(parts, caller, deviceId);
}

async function readFromStore(
  { devices, federation }: CurrentDeviceParts,
  caller: Principal,
  deviceId: DeviceId,
): Promise<CurrentDevice> {
  const beside = federation.freshnessBeside();
  const state = await devices.state(caller, deviceId, beside.read);
  const freshness = await beside.of(state.device);
  if (!freshness) throw new UnknownDevice();
  return { state, freshness };
}
