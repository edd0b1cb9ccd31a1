import {
  type AttributeNumber,
  alarmAttribute,
  alarmLimit,
  attributeCount,
  structureAttribute,
  structureLimit,
  thermostatAttribute,
  thermostatLimit,
} from "./attribute-names.ts";

/** All values of a virtual device by attribute number; null is blank. Booleans and totals are text as well. */
export type AttributeValues = readonly (string | null)[];

export const blankValues: AttributeValues = Object.freeze(new Array<null>(attributeCount).fill(null));

/**
 * The values that are not blank, each after its attribute's number. The usual home has some 60 of the 519 values: a link
 * that waits for changes keeps its values in this form, in a fifth of the memory.
 */
export type PackedValues = readonly (AttributeNumber | string)[];

export function packValues(values: AttributeValues): PackedValues {
  let valueCount = 0;
  for (const value of values) if (value !== null) valueCount += 1;
  // A list that grows would reserve up to a half more memory.
  const packed = new Array<AttributeNumber | string>(2 * valueCount);
  let end = 0;
  for (let attribute = 0; attribute < values.length; attribute++) {
    const value = values[attribute];
    if (value == null) continue;
    packed[end++] = attribute;
    packed[end++] = value;
  }
  return packed;
}

export function unpackValues(packed: PackedValues): AttributeValues {
  const values = [...blankValues];
  for (let i = 0; i < packed.length; i += 2) values[packed[i] as AttributeNumber] = packed[i + 1] as string;
  return values;
}

export interface Change {
  readonly attribute: AttributeNumber;
  readonly value: string | null;
}

/**
 * The changes from `current` to `next`, by ascending number. The fan request of a slot whose thermostat changed is
 * always among them: a client may have written a request that `current` does not know, and the request must not pass to
 * another thermostat.
 */
export function mirrorChanges(current: AttributeValues, next: AttributeValues): readonly Change[] {
  const changes: Change[] = [];
  for (let attribute = 0; attribute < attributeCount; attribute++) {
    const value = next[attribute] ?? null;
    const deviceId = thermostatOfRequest[attribute];
    if (deviceId !== undefined && current[deviceId] !== next[deviceId]) changes.push({ attribute, value: null });
    else if (value !== current[attribute]) changes.push({ attribute, value });
  }
  return changes;
}

/**
 * Maps the number of each fan request to the number of its thermostat's `deviceId`; undefined for all other attributes.
 */
const thermostatOfRequest = listThermostats();

function listThermostats(): readonly (AttributeNumber | undefined)[] {
  const list = new Array<AttributeNumber | undefined>(attributeCount).fill(undefined);
  for (let x = 1; x <= structureLimit; x++) {
    for (let y = 1; y <= thermostatLimit; y++) {
      list[thermostatAttribute(x, y, "requestWrite")] = thermostatAttribute(x, y, "deviceId");
    }
  }
  return list;
}

/** The X under which the values show the structure; undefined when they don't show it. */
export function findStructure(values: AttributeValues, id: string): number | undefined {
  for (let x = 1; x <= structureLimit; x++) if (values[structureAttribute(x, "structureId")] === id) return x;
  return undefined;
}

export interface DeviceIndex {
  readonly x: number;
  readonly y: number;
}

export function findThermostat(values: AttributeValues, id: string): DeviceIndex | undefined {
  for (let x = 1; x <= structureLimit; x++) {
    for (let y = 1; y <= thermostatLimit; y++) {
      if (values[thermostatAttribute(x, y, "deviceId")] === id) return { x, y };
    }
  }
  return undefined;
}

export function findAlarm(values: AttributeValues, id: string): DeviceIndex | undefined {
  for (let x = 1; x <= structureLimit; x++) {
    for (let y = 1; y <= alarmLimit; y++) {
      if (values[alarmAttribute(x, y, "deviceId")] === id) return { x, y };
    }
  }
  return undefined;
}
