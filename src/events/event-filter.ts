import { LimitReached } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { EventFilter } from "./client-events.ts";

/** A client's filter without duplicates; throws LimitReached when it is too long. */
export function boundedFilter({ deviceIds, attributes }: EventFilter): EventFilter {
  const devices = [...new Set(deviceIds)];
  if (devices.length > limits.filterDevices) {
    throw new LimitReached(
      "filterDevices",
      `The filter names ${devices.length} devices, and ${limits.filterDevices} is the limit. Name fewer, or none to get all.`,
    );
  }
  return { deviceIds: devices, attributes: boundedNames(attributes) };
}

/** Ids of things without duplicates; throws LimitReached when there are too many. */
export function boundedThings(thingIds: readonly string[]): readonly string[] {
  const things = [...new Set(thingIds)];
  if (things.length > limits.filterThings) {
    throw new LimitReached(
      "filterThings",
      `The filter names ${things.length} things, and ${limits.filterThings} is the limit. Name fewer, or none to get all.`,
    );
  }
  return things;
}

/** Attribute names without duplicates; throws LimitReached when there are too many. */
export function boundedNames(attributes: readonly string[]): readonly string[] {
  const names = [...new Set(attributes)];
  if (names.length > limits.filterNames) {
    throw new LimitReached(
      "filterNames",
      `The filter names ${names.length} attributes, and ${limits.filterNames} is the limit. Name fewer, or none to get all.`,
    );
  }
  return names;
}
