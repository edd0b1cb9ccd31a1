import type { Account, Alarm, Sighting, Structure, Thermostat } from "../home/account.ts";
import { cleanText } from "../model/clean-text.ts";
import { alarmSummaryFields, summariseAlarms } from "./alarm-summary.ts";
import {
  type AlarmField,
  alarmAttribute,
  structureAttribute,
  structureSummary,
  type ThermostatField,
  thermostatAttribute,
  totalStructures,
} from "./attribute-names.ts";
import { type AttributeValues, blankValues, findAlarm, findStructure, findThermostat } from "./attribute-values.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import { isPresent, type Slot } from "./slots.ts";

/**
 * The values of the virtual device after a snapshot, from the snapshot's index map and the values shown now. An absent
 * object is blank, and so is a field that a readable object lacks. An unreadable object keeps its values, even if its
 * slot changed.
 */
export function mirror(account: Account, map: IndexMap, current: AttributeValues): AttributeValues {
  const next = [...blankValues];
  const structures = map.structures.filter(isPresent);
  if (structures.length > 0) next[totalStructures] = String(structures.length);
  map.structures.forEach((slot, index) => {
    if (isPresent(slot)) mirrorWholeStructure(account, map, slot, index + 1, current, next);
  });
  return next;
}

type NextValues = (string | null)[];

function mirrorWholeStructure(
  account: Account,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  mirrorStructure(account.structures.byId.get(structure.id), structure, x, current, next);
  structure.thermostats.forEach((slot, index) => {
    if (isPresent(slot)) mirrorThermostat(account.thermostats.byId.get(slot.id), slot, x, index + 1, current, next);
  });
  structure.alarms.forEach((slot, index) => {
    if (isPresent(slot)) mirrorAlarm(account.alarms.byId.get(slot.id), slot, x, index + 1, current, next);
  });
  // A device has no slot only when present devices hold all of them, so counting slots clamps the total to the
  // interface's limit.
  next[structureSummary(x, "totalThermostats")] = String(structure.thermostats.filter(isPresent).length);
  next[structureSummary(x, "totalAlarms")] = String(structure.alarms.filter(isPresent).length);
  mirrorAlarmSummary(account, map, structure, x, current, next);
}

export function mirrorAlarmSummary(
  account: Account,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const summary = summariseAlarms(account, map, structure, x, current, next);
  for (const field of alarmSummaryFields) next[structureSummary(x, field)] = summary[field];
}

export function mirrorStructure(
  sighting: Sighting<Structure> | undefined,
  slot: Slot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  if (sighting?.isRead) {
    next[structureAttribute(x, "away")] = sighting.object.away;
    next[structureAttribute(x, "name")] = textOf(sighting.object.name);
  } else {
    const shown = findStructure(current, id);
    if (shown !== undefined) {
      next[structureAttribute(x, "away")] = current[structureAttribute(shown, "away")] ?? null;
      next[structureAttribute(x, "name")] = current[structureAttribute(shown, "name")] ?? null;
    }
    const name = sighting?.partial.name ?? null;
    if (name !== null) next[structureAttribute(x, "name")] = cleanText(name);
  }
  next[structureAttribute(x, "structureId")] = id;
}

export function mirrorThermostat(
  sighting: Sighting<Thermostat> | undefined,
  slot: Slot,
  x: number,
  y: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  const set = (field: ThermostatField, value: string | null | undefined) => {
    next[thermostatAttribute(x, y, field)] = value ?? null;
  };
  if (sighting?.isRead) {
    const { object } = sighting;
    set("name", textOf(object.name));
    set("isOnline", claimOf(object.isOnline));
    set("hasFan", claimOf(object.hasFan));
    set("fanTimerActive", claimOf(object.fanTimerActive));
    set("fanTimerTimeout", textOf(object.fanTimerTimeout));
  } else {
    const shown = findThermostat(current, id);
    if (shown) {
      for (const field of keptOfThermostat) set(field, current[thermostatAttribute(shown.x, shown.y, field)]);
    }
    const name = sighting?.partial.name ?? null;
    if (name !== null) set("name", cleanText(name));
  }
  set("deviceId", id);
  // The request belongs to this thermostat in this slot: it neither moves with the thermostat nor passes to another
  // one.
  const isSameOccupant = current[thermostatAttribute(x, y, "deviceId")] === id;
  set("requestWrite", isSameOccupant ? current[thermostatAttribute(x, y, "requestWrite")] : null);
}

const keptOfThermostat: readonly ThermostatField[] = [
  "name",
  "isOnline",
  "hasFan",
  "fanTimerActive",
  "fanTimerTimeout",
];

export function mirrorAlarm(
  sighting: Sighting<Alarm> | undefined,
  slot: Slot,
  x: number,
  y: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  const set = (field: AlarmField, value: string | null | undefined) => {
    next[alarmAttribute(x, y, field)] = value ?? null;
  };
  if (sighting?.isRead) {
    const { object } = sighting;
    set("name", textOf(object.name));
    set("isOnline", claimOf(object.isOnline));
    set("coAlarmState", textOf(object.coAlarmState));
    set("smokeAlarmState", textOf(object.smokeAlarmState));
    set("uiColorState", textOf(object.uiColorState));
  } else {
    const shown = findAlarm(current, id);
    if (shown) for (const field of keptOfAlarm) set(field, current[alarmAttribute(shown.x, shown.y, field)]);
    const name = sighting?.partial.name ?? null;
    if (name !== null) set("name", cleanText(name));
  }
  set("deviceId", id);
}

const keptOfAlarm: readonly AlarmField[] = ["name", "isOnline", "coAlarmState", "smokeAlarmState", "uiColorState"];

function textOf(value: string | null): string | null {
  return value === null ? null : cleanText(value);
}

function claimOf(value: boolean | null): string | null {
  return value === null ? null : String(value);
}
