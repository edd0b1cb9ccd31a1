import type { Home, ObjectReading, Structure } from "../home/home.ts";
import type { Thing } from "../home/thing.ts";
import type { Presence } from "../home/traits/presence.ts";
import { cleanText } from "../model/clean-text.ts";
import { alarmSummaryFields, summariseAlarms } from "./alarm-summary.ts";
import { alarmWord } from "./alarm-words.ts";
import {
  type AlarmField,
  alarmOrder,
  alarmStart,
  structureAttribute,
  structureSummary,
  type ThermostatField,
  thermostatOrder,
  thermostatStart,
  totalStructures,
} from "./attribute-names.ts";
import { type AttributeValues, blankValues, findAlarm, findStructure, findThermostat } from "./attribute-values.ts";
import { fanAttributes, fanFields } from "./fan-attributes.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import { isPresent, type Slot } from "./slots.ts";

/**
 * The values of the virtual device after a snapshot, from the snapshot's index map and the values shown now. An absent
 * object is blank, and so is a field that a readable trait lacks. An unreadable object keeps its values, even if its
 * slot changed, and so does a trait that a readable object lacks: its ecosystem can't tell the values now.
 */
export function mirror(home: Home, map: IndexMap, current: AttributeValues): AttributeValues {
  const next = [...blankValues];
  const structures = map.structures.filter(isPresent);
  if (structures.length > 0) next[totalStructures] = String(structures.length);
  map.structures.forEach((slot, index) => {
    if (isPresent(slot)) mirrorWholeStructure(home, map, slot, index + 1, current, next);
  });
  return next;
}

type NextValues = (string | null)[];

function mirrorWholeStructure(
  home: Home,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  mirrorStructure(home.structures.byId.get(structure.id), structure, x, current, next);
  structure.thermostats.forEach((slot, index) => {
    if (isPresent(slot)) mirrorThermostat(home.thermostats.byId.get(slot.id), slot, x, index + 1, current, next);
  });
  structure.alarms.forEach((slot, index) => {
    if (isPresent(slot)) mirrorAlarm(home.alarms.byId.get(slot.id), slot, x, index + 1, current, next);
  });
  // A device has no slot only when present devices hold all of them, so counting slots clamps the total to the
  // interface's limit.
  next[structureSummary(x, "totalThermostats")] = String(structure.thermostats.filter(isPresent).length);
  next[structureSummary(x, "totalAlarms")] = String(structure.alarms.filter(isPresent).length);
  mirrorAlarmSummary(home, map, structure, x, current, next);
}

function mirrorAlarmSummary(
  home: Home,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const summary = summariseAlarms(home, map, structure, x, current, next);
  for (const field of alarmSummaryFields) next[structureSummary(x, field)] = summary[field];
}

export function mirrorStructure(
  sighting: ObjectReading<Structure> | undefined,
  slot: Slot,
  x: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  if (sighting?.isRead && sighting.object.presence) {
    next[structureAttribute(x, "away")] = awayOf(sighting.object.presence);
    next[structureAttribute(x, "name")] = textOf(sighting.object.name);
  } else {
    const shown = findStructure(current, id);
    if (shown !== undefined) {
      next[structureAttribute(x, "away")] = current[structureAttribute(shown, "away")] ?? null;
      next[structureAttribute(x, "name")] = current[structureAttribute(shown, "name")] ?? null;
    }
    const name = (sighting?.isRead ? sighting.object.name : sighting?.partial.name) ?? null;
    if (name !== null) next[structureAttribute(x, "name")] = cleanText(name);
  }
  next[structureAttribute(x, "structureId")] = id;
}

function mirrorThermostat(
  sighting: ObjectReading<Thing> | undefined,
  slot: Slot,
  x: number,
  y: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  const start = thermostatStart(x, y);
  if (sighting?.isRead) {
    const { name, isOnline, traits } = sighting.object;
    next[start + thermostatOrder.name] = textOf(name);
    next[start + thermostatOrder.isOnline] = claimOf(isOnline);
    const fan = fanAttributes(traits);
    if (fan) for (const field of fanFields) next[start + thermostatOrder[field]] = fan[field];
    else keepOfThermostat(id, fanFields, start, current, next);
  } else {
    keepOfThermostat(id, keptOfThermostat, start, current, next);
    const name = sighting?.partial.name ?? null;
    if (name !== null) next[start + thermostatOrder.name] = cleanText(name);
  }
  next[start + thermostatOrder.deviceId] = id;
  // The request belongs to this thermostat in this slot: it neither moves with the thermostat nor passes to another
  // one.
  const isSameOccupant = current[start + thermostatOrder.deviceId] === id;
  const request = start + thermostatOrder.requestWrite;
  next[request] = (isSameOccupant ? current[request] : null) ?? null;
}

const keptOfThermostat: readonly ThermostatField[] = ["name", "isOnline", ...fanFields];

function keepOfThermostat(
  id: string,
  fields: readonly ThermostatField[],
  start: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const shown = findThermostat(current, id);
  if (!shown) return;
  const shownStart = thermostatStart(shown.x, shown.y);
  for (const field of fields) {
    next[start + thermostatOrder[field]] = current[shownStart + thermostatOrder[field]] ?? null;
  }
}

function mirrorAlarm(
  sighting: ObjectReading<Thing> | undefined,
  slot: Slot,
  x: number,
  y: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const id = cleanText(slot.id);
  const start = alarmStart(x, y);
  if (sighting?.isRead) {
    const { name, isOnline, traits } = sighting.object;
    next[start + alarmOrder.name] = textOf(name);
    next[start + alarmOrder.isOnline] = claimOf(isOnline);
    const { carbonMonoxide, smoke, indicator } = traits;
    if (carbonMonoxide) next[start + alarmOrder.coAlarmState] = textOf(alarmWord(carbonMonoxide));
    else keepOfAlarm(id, ["coAlarmState"], start, current, next);
    if (smoke) next[start + alarmOrder.smokeAlarmState] = textOf(alarmWord(smoke));
    else keepOfAlarm(id, ["smokeAlarmState"], start, current, next);
    next[start + alarmOrder.uiColorState] = textOf(indicator?.state.color);
  } else {
    keepOfAlarm(id, keptOfAlarm, start, current, next);
    const name = sighting?.partial.name ?? null;
    if (name !== null) next[start + alarmOrder.name] = cleanText(name);
  }
  next[start + alarmOrder.deviceId] = id;
}

const keptOfAlarm: readonly AlarmField[] = ["name", "isOnline", "coAlarmState", "smokeAlarmState", "uiColorState"];

function keepOfAlarm(
  id: string,
  fields: readonly AlarmField[],
  start: number,
  current: AttributeValues,
  next: NextValues,
): void {
  const shown = findAlarm(current, id);
  if (!shown) return;
  const shownStart = alarmStart(shown.x, shown.y);
  for (const field of fields) next[start + alarmOrder[field]] = current[shownStart + alarmOrder[field]] ?? null;
}

function awayOf(presence: Presence | undefined): string | null {
  const state = presence?.state.state ?? null;
  return state === "autoAway" ? "auto-away" : state;
}

function textOf(value: string | null | undefined): string | null {
  return value == null ? null : cleanText(value);
}

function claimOf(value: boolean | null | undefined): string | null {
  return value == null ? null : String(value);
}
