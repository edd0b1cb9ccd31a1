import { parseAttributeName, placeOf, thermostatAttribute } from "../model/attribute-names.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { attributesSince, attributesWithValues, type ReadAttribute } from "./read.ts";
import { shownName } from "./shown-attribute.ts";
import type { DeviceState } from "./states.ts";

/** What a reader wants of a device. */
export interface AttributeQuestion {
  /** In any published spelling; none means all. */
  readonly names: readonly string[];
  /** Only what changed strictly after it, and then what turned blank as well. */
  readonly sinceMs: number | undefined;
}

/** An attribute under the name by which it was asked for. */
export interface NamedAttribute extends ReadAttribute {
  readonly name: string;
}

/** A name that the device doesn't have is simply not in the answer. */
export function askedAttributes(state: DeviceState, { names, sinceMs }: AttributeQuestion): readonly NamedAttribute[] {
  if (names.length === 0) {
    const all = sinceMs === undefined ? attributesWithValues(state) : attributesSince(state, sinceMs);
    return all.map((attribute) => ({ ...attribute, name: shownName(attribute.key) }));
  }
  const asked: NamedAttribute[] = [];
  for (const name of names) {
    const key = state.device.isVirtual ? parseAttributeName(name)?.number : name;
    if (key === undefined) continue;
    const { value, timeMs } = state.attributes.get(key) ?? neverWritten;
    const isShown = sinceMs === undefined ? value !== null || isFanRequest(state, key) : timeMs > sinceMs;
    if (isShown) asked.push({ key, name, value, updateTimeMs: timeMs });
  }
  return asked;
}

const neverWritten = { value: null, timeMs: 0 };

/** Whether it is the fan request of a thermostat that is there: asked for by name it is shown even when it is empty. */
function isFanRequest({ attributes }: DeviceState, key: AttributeKey): boolean {
  if (typeof key !== "number") return false;
  const place = placeOf(key);
  if (place.kind !== "thermostat" || place.field !== "requestWrite") return false;
  const deviceId = attributes.get(thermostatAttribute(place.x, place.y, "deviceId"));
  return deviceId !== undefined && deviceId.value !== null;
}
