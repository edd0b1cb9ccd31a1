import type { ThingDescriptor, ThingState } from "../home/stored-thing.ts";
import type { SettableFields } from "../home/trait-map.ts";
import type { DeviceId, UserId } from "../model/ids.ts";

/** A thing, as callers may read it. */
export interface ReadThing extends ThingDescriptor {
  readonly userId: UserId;
  readonly thingId: string;
  readonly deviceId: DeviceId;
  readonly source: string;
  readonly goneMs: number | null;
  readonly state: ThingState;
  /** What the map of an own device's type lets commands set. Left out for a linked thing: its ecosystem decides. */
  readonly settable?: SettableFields;
}
