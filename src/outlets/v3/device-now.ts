import type { DeviceReading } from "../../devices/read.ts";
import type { DeviceState } from "../../devices/states.ts";
import type { Federation } from "../../federation/federation.ts";
import type { Freshness } from "../../federation/freshness.ts";
import type { Principal } from "../../identity/principal.ts";
import { UnknownDevice } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";

export interface DeviceNowParts {
  readonly devices: Pick<DeviceReading, "state" | "cachedState">;
  readonly federation: Pick<Federation, "freshnessOfEach" | "freshnessHere">;
}

/** The state of a device, and how far it can be believed. */
export interface DeviceNow {
  readonly state: DeviceState;
  readonly freshness: Freshness;
}

/** A device within the caller's reach as it is now: at once where nobody has to be asked, as mostly on SQLite. */
export function deviceNow(
  parts: DeviceNowParts,
  caller: Principal,
  deviceId: DeviceId,
): DeviceNow | Promise<DeviceNow> {
  const state = parts.devices.cachedState(caller, deviceId);
  const freshness = state && parts.federation.freshnessHere(state.device);
  return freshness ? { state, freshness } : askedFor(parts, caller, deviceId);
}

async function askedFor(
  { devices, federation }: DeviceNowParts,
  caller: Principal,
  deviceId: DeviceId,
): Promise<DeviceNow> {
  const state = await devices.state(caller, deviceId);
  const freshness = (await federation.freshnessOfEach([state.device])).get(state.device.id);
  if (!freshness) throw new UnknownDevice();
  return { state, freshness };
}
