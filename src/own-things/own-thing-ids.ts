import type { DeviceId } from "../model/ids.ts";

/** The ids of things that are derived from own devices. An id is the device's id in another form: no row holds it. */
export interface OwnThingIds {
  thingIdOf(deviceId: DeviceId): string;
  /** Undefined for the id of any other thing, and for text that is no id. */
  deviceOf(thingId: string): DeviceId | undefined;
}
