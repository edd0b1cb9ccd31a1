import type { ThingIdOf } from "../../src/federation/thing-marks.ts";

/** Ids that tell which thing they mean. */
export const plainThingIds: ThingIdOf = (userId, ecosystem, key) => `t_${userId}_${ecosystem}_${key}`;
