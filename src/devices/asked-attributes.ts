import { placeOf, thermostatAttribute } from "../model/attribute-names.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { askedNames, namesIn } from "./asked-names.ts";
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
    const attribute = state.attributes.get(key);
    const { value, timeMs } = attribute ?? neverWritten;
    // Without `since`, an erased attribute is null with the time of its erasure; one that never had a value is absent.
    const isShown = sinceMs === undefined ? attribute !== undefined || isFanRequest(state, key) : timeMs > sinceMs;
    if (isShown) asked.push({ key, name, value, updateTimeMs: timeMs });
  }
  return asked;
}

const neverWritten = { value: null, timeMs: 0 };

/** An ordinary device may have an attribute with a comma in its name: such a name is read as it is. */
function keysOf({ device, attributes }: DeviceState, names: readonly string[]): (readonly [string, AttributeKey])[] {
  if (device.isVirtual) return askedNames(names, [device]).map((name) => [name, knownAttribute(name).number]);
  return names.flatMap((name) => (attributes.has(name) ? [name] : namesIn(name))).map((name) => [name, name]);
}

/** Whether it is the fan request of a thermostat that is there: asked for by name it is shown even when it is empty. */
function isFanRequest({ attributes }: DeviceState, key: AttributeKey): boolean {
  if (typeof key !== "number") return false;
  const place = placeOf(key);
  if (place.kind !== "thermostat" || place.field !== "requestWrite") return false;
  const deviceId = attributes.get(thermostatAttribute(place.x, place.y, "deviceId"));
  return deviceId !== undefined && deviceId.value !== null;
}
