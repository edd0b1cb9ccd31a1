import { askedAttributes, type NamedAttribute } from "../devices/asked-attributes.ts";
import { shownValue } from "../devices/shown-attribute.ts";
import type { DeviceState } from "../devices/states.ts";
import type { Freshness } from "../federation/freshness.ts";

/** A device as it is shown, with those of its attributes that were asked for. */
export function deviceBody(
  { device: { id, name, typeName } }: DeviceState,
  { isPresent, isStale, confirmedTimeMs }: Freshness,
  attributes: readonly NamedAttribute[],
): string {
  return JSON.stringify({
    deviceId: id,
    deviceName: name,
    deviceTypeName: typeName,
    presenceInfo: isPresent ? 1 : 0,
    stale: isStale,
    ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
    attributes: Object.fromEntries(attributes.map(shownAttribute)),
  });
}

const wholeBodies = new WeakMap<DeviceState, { readonly freshness: Freshness; readonly body: Buffer }>();

/**
 * The same with all attributes, made once for each state of a device: a state never changes, another takes its place,
 * and with it goes what was made of it.
 */
export function wholeDeviceBody(state: DeviceState, freshness: Freshness): Buffer {
  const made = wholeBodies.get(state);
  if (made && isSame(made.freshness, freshness)) return made.body;
  const body = Buffer.from(deviceBody(state, freshness, askedAttributes(state, everything)));
  wholeBodies.set(state, { freshness, body });
  return body;
}

const everything = { names: [], sinceMs: undefined };

function isSame(one: Freshness, other: Freshness): boolean {
  return (
    one.isPresent === other.isPresent && one.isStale === other.isStale && one.confirmedTimeMs === other.confirmedTimeMs
  );
}

function shownAttribute({ key, name, value, updateTimeMs }: NamedAttribute) {
  return [name, { value: shownValue(key, value), updateTime: updateTimeMs }] as const;
}
