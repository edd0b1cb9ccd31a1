import type { Home } from "../home/home.ts";
import type { Thing } from "../home/thing.ts";
import { cleanText } from "../model/clean-text.ts";
import { alarmWord } from "./alarm-words.ts";
import { alarmAttribute, structureSummary } from "./attribute-names.ts";
import { type AttributeValues, findAlarm, findStructure } from "./attribute-values.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import { isPresent } from "./slots.ts";
import { hasNoKnownStructure, knownStructures } from "./stray-alarms.ts";

/** The combined state of a structure's alarms: warnings and emergencies; null is blank. */
export type AlarmSummary = Readonly<Record<(typeof alarmSummaryFields)[number], string | null>>;

export const alarmSummaryFields = [
  "warningsAll",
  "warningsSmoke",
  "warningsCo",
  "emergenciesAll",
  "emergenciesSmoke",
  "emergenciesCo",
] as const;

/**
 * Combines every alarm of the structure, including alarms over the limit that have no attributes of their own, and
 * every alarm without a known structure: such alarms count in all structures, even if they still have an index in one.
 * `next` already holds the mapped alarms; `current` holds the last state of an alarm that can't be read now.
 */
export function summariseAlarms(
  home: Home,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: AttributeValues,
): AlarmSummary {
  const before = shownSummary(structure.id, current);
  // Alarms are also missing when the permission for them was withdrawn. Only a complete snapshot shows that; after an
  // incomplete one the last summary stays.
  if (!home.speaksOfAlarms) return isCompleteAround(structure, home) ? blankSummary : before;

  const others = statesOfOthers(home, map, structure, current);
  const states = [...mappedStates(structure, x, next), ...others.flatMap((one) => one ?? [])];
  // An alarm without an index in this structure, if it is missing from the snapshot or can't be read, may still be
  // sounding: its "true" stays until a snapshot shows its state. Such alarms are those beyond a full range and, in an
  // account of two structures, strays.
  const mayBeUnnamed = structure.alarms.every(isPresent) || map.structures.filter(isPresent).length > 1;
  const mayHideMore = (!home.alarms.isWhole && mayBeUnnamed) || others.includes(undefined);
  const any = (sensor: keyof AlarmStates, state: string, field: keyof AlarmSummary) =>
    states.some((alarm) => alarm[sensor] === state) || (mayHideMore && before[field] === "true");

  const warningsSmoke = any("smoke", "warning", "warningsSmoke");
  const warningsCo = any("co", "warning", "warningsCo");
  const emergenciesSmoke = any("smoke", "emergency", "emergenciesSmoke");
  const emergenciesCo = any("co", "emergency", "emergenciesCo");
  return {
    warningsAll: String(warningsSmoke || warningsCo),
    warningsSmoke: String(warningsSmoke),
    warningsCo: String(warningsCo),
    emergenciesAll: String(emergenciesSmoke || emergenciesCo),
    emergenciesSmoke: String(emergenciesSmoke),
    emergenciesCo: String(emergenciesCo),
  };
}

function isCompleteAround(structure: StructureSlot, { alarms, structures }: Home): boolean {
  return alarms.isWhole && structures.isWhole && structures.byId.get(structure.id)?.isRead === true;
}

interface AlarmStates {
  readonly smoke: string | null | undefined;
  readonly co: string | null | undefined;
}

const blankSummary: AlarmSummary = {
  warningsAll: null,
  warningsSmoke: null,
  warningsCo: null,
  emergenciesAll: null,
  emergenciesSmoke: null,
  emergenciesCo: null,
};

function shownSummary(structureId: string, values: AttributeValues): AlarmSummary {
  const x = findStructure(values, cleanText(structureId));
  if (x === undefined) return blankSummary;
  const shown = alarmSummaryFields.map((field) => [field, values[structureSummary(x, field)] ?? null]);
  return Object.fromEntries(shown) as AlarmSummary;
}

function mappedStates(structure: StructureSlot, x: number, values: AttributeValues): AlarmStates[] {
  return structure.alarms.flatMap((slot, index) => (isPresent(slot) ? [statesAt(values, x, index + 1)] : []));
}

/**
 * The states of alarms that count in this structure without an index in it; undefined for an alarm whose state is
 * unknown.
 */
function statesOfOthers(
  home: Home,
  { structures }: IndexMap,
  structure: StructureSlot,
  current: AttributeValues,
): (AlarmStates | undefined)[] {
  const own = idsIn([structure]);
  const mapped = idsIn(structures);
  const known = knownStructures(home, structures);
  const states: (AlarmStates | undefined)[] = [];
  for (const [id, sighting] of home.alarms.byId) {
    if (own.has(id)) continue;
    const alarm = sighting.isRead ? sighting.object : sighting.partial;
    const belongsHere = alarm.structureId === structure.id && !mapped.has(id);
    if (!belongsHere && !hasNoKnownStructure(alarm.structureId, known)) continue;
    const isPlacementKnown = belongsHere || home.structures.isWhole;
    // An alarm with an index in another structure may belong there. Only that structure's list can say so, and the list
    // may be missing.
    if (!isPlacementKnown && mapped.has(id)) states.push(undefined);
    else if (isPlacementKnown && sighting.isRead) states.push(statesIn(sighting.object));
    else states.push(lastStates(id, current));
  }
  return states;
}

function idsIn(structures: IndexMap["structures"]): ReadonlySet<string> {
  const slots = structures.flatMap((one) => (isPresent(one) ? one.alarms : []));
  return new Set(slots.filter(isPresent).map(({ id }) => id));
}

function statesIn({ traits }: Thing): AlarmStates {
  return { smoke: alarmWord(traits.smoke), co: alarmWord(traits.carbonMonoxide) };
}

/** Undefined when no state was ever reported: a slot that was assigned to an unreadable alarm shows none. */
function lastStates(id: string, current: AttributeValues): AlarmStates | undefined {
  const shown = findAlarm(current, cleanText(id));
  const states = shown && statesAt(current, shown.x, shown.y);
  return (states?.smoke ?? states?.co ?? null) === null ? undefined : states;
}

function statesAt(values: AttributeValues, x: number, y: number): AlarmStates {
  return {
    smoke: values[alarmAttribute(x, y, "smokeAlarmState")],
    co: values[alarmAttribute(x, y, "coAlarmState")],
  };
}
