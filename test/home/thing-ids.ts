import type { ThingIdOf } from "../../src/federation/thing-marks.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OwnThingIds } from "../../src/own-things/own-thing-ids.ts";

/** Ids that tell which thing they mean. */
export const plainThingIds: ThingIdOf = (userId, ecosystem, key) => `t_${userId}_${ecosystem}_${key}`;

/** Ids of own things that tell their device. */
export const plainOwnThingIds: OwnThingIds = {
  thingIdOf: (deviceId) => `t_own_${deviceId}`,
  deviceOf: (thingId) => (/^t_own_\d+$/.test(thingId) ? (Number(thingId.slice(6)) as DeviceId) : undefined),
};
