import type { AttributeKey } from "../store/tables/attributes.ts";
import { positionOf, thermostatAttribute } from "../virtual-device/attribute-names.ts";
import { namesIn, parseAttributeNames } from "./attribute-parameter.ts";
import { attributesSince, attributesWithValues, type ReadAttribute } from "./read.ts";
import type { DeviceState } from "./states.ts";
import { wireName } from "./wire-attribute.ts";
import { knownAttribute } from "./write.ts";

/** Which attributes of a device a client wants to read. */
export interface AttributeQuery {
  /** In any published spelling; a comma separates names. An empty list means all attributes. */
  readonly names: readonly string[];
  /** If set, only attributes that changed strictly after it, including those that became blank. */
  readonly sinceMs: number | undefined;
}

/** An attribute under the name that the client used for it. */
export interface SelectedAttribute extends ReadAttribute {
  readonly name: string;
}

/**
 * Selects the attributes of a query. Throws UnknownAttribute for a name that no linked account has: an answer without
 * it would look like a blank attribute.
 */
export function selectAttributes(state: DeviceState, { names, sinceMs }: AttributeQuery): readonly SelectedAttribute[] {
  if (names.length === 0) {
    const all = sinceMs === undefined ? attributesWithValues(state) : attributesSince(state, sinceMs);
    return all.map((attribute) => ({ ...attribute, name: wireName(attribute.key) }));
  }
  const selected: SelectedAttribute[] = [];
  for (const [name, key] of keysOf(state, names)) {
    // An erased attribute is null with the time of its erasure; an attribute that never had a value is left out.
    const attribute = findAttribute(state, key);
    if (!attribute) continue;
    const { value, timeMs } = attribute;
    if (sinceMs === undefined || timeMs > sinceMs) selected.push({ key, name, value, updateTimeMs: timeMs });
  }
  return selected;
}

/** A name with a comma that an ordinary device has is taken literally. */
function keysOf({ device, attributes }: DeviceState, names: readonly string[]): (readonly [string, AttributeKey])[] {
  if (device.isVirtual) return parseAttributeNames(names, [device]).map((name) => [name, knownAttribute(name).number]);
  return names.flatMap((name) => (attributes.has(name) ? [name] : namesIn(name))).map((name) => [name, name]);
}

/**
 * An attribute that a client names; undefined if it never had a value. The fan request of a present thermostat is blank
 * before the first write. Its time is when the thermostat got its slot, since it has been blank since then.
 */
export function findAttribute(
  { attributes }: DeviceState,
  key: AttributeKey,
): { readonly value: string | null; readonly timeMs: number } | undefined {
  const attribute = attributes.get(key);
  if (attribute) return attribute;
  if (typeof key !== "number") return undefined;
  const position = positionOf(key);
  if (position.kind !== "thermostat" || position.field !== "requestWrite") return undefined;
  const deviceId = attributes.get(thermostatAttribute(position.x, position.y, "deviceId"));
  return deviceId && deviceId.value !== null ? { value: null, timeMs: deviceId.timeMs } : undefined;
}
