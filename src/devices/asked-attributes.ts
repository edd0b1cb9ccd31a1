import { placeOf, thermostatAttribute } from "../model/attribute-names.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { askedNames, namesIn } from "./attribute-parameter.ts";
import { attributesSince, attributesWithValues, type ReadAttribute } from "./read.ts";
import { shownName } from "./shown-attribute.ts";
import type { DeviceState } from "./states.ts";
import { knownAttribute } from "./write.ts";

/** What a reader wants of a device. */
export interface AttributeQuestion {
  /** In any published spelling; a comma separates names. None means all. */
  readonly names: readonly string[];
  /** Only what changed strictly after it, and then what turned blank as well. */
  readonly sinceMs: number | undefined;
}

/** An attribute under the name by which it was asked for. */
export interface NamedAttribute extends ReadAttribute {
  readonly name: string;
}

/**
 * The attributes that a question asks for. Throws UnknownAttribute for a name that no linked account has: an answer
 * without it would look like a blank attribute.
 */
export function askedAttributes(state: DeviceState, { names, sinceMs }: AttributeQuestion): readonly NamedAttribute[] {
  if (names.length === 0) {
    const all = sinceMs === undefined ? attributesWithValues(state) : attributesSince(state, sinceMs);
    return all.map((attribute) => ({ ...attribute, name: shownName(attribute.key) }));
  }
  const asked: NamedAttribute[] = [];
  for (const [name, key] of keysOf(state, names)) {
    // An erased attribute is null with the time of its erasure; one that never had a value is absent.
    const attribute = state.attributes.get(key) ?? emptyFanRequest(state, key);
    if (!attribute) continue;
    const { value, timeMs } = attribute;
    if (sinceMs === undefined || timeMs > sinceMs) asked.push({ key, name, value, updateTimeMs: timeMs });
  }
  return asked;
}

/** An ordinary device may have an attribute with a comma in its name: such a name is read as it is. */
function keysOf({ device, attributes }: DeviceState, names: readonly string[]): (readonly [string, AttributeKey])[] {
  if (device.isVirtual) return askedNames(names, [device]).map((name) => [name, knownAttribute(name).number]);
  return names.flatMap((name) => (attributes.has(name) ? [name] : namesIn(name))).map((name) => [name, name]);
}

/**
 * A fan request that was never written, of a thermostat that is there: asked for by name it is shown too. It has
 * been empty since the thermostat got its slot, so that is its time.
 */
function emptyFanRequest({ attributes }: DeviceState, key: AttributeKey) {
  if (typeof key !== "number") return undefined;
  const place = placeOf(key);
  if (place.kind !== "thermostat" || place.field !== "requestWrite") return undefined;
  const deviceId = attributes.get(thermostatAttribute(place.x, place.y, "deviceId"));
  return deviceId && deviceId.value !== null ? { value: null, timeMs: deviceId.timeMs } : undefined;
}
