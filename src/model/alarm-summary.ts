import type { Account, Alarm } from "./account.ts";
import { alarmAttribute, structureSummary } from "./attribute-names.ts";
import { type AttributeValues, findAlarm, findStructure } from "./attribute-values.ts";
import { cleanText } from "./clean-text.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import { isPresent } from "./slots.ts";
import { isHomeless, knownStructures } from "./stray-alarms.ts";

/** What a structure's alarms say together (interface 2.7, warnings and emergencies); null is blank. */
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
 * Counts every alarm of the structure, also those over the limit that have no attributes of their own, and every alarm
 * that belongs to no known structure: such alarms count in all structures, also when they still have an index in one.
 * `next` holds the mapped alarms already; `current` has what an alarm that can't be read now said last.
 */
export function summariseAlarms(
  account: Account,
  map: IndexMap,
  structure: StructureSlot,
  x: number,
  current: AttributeValues,
  next: AttributeValues,
): AlarmSummary {
  const before = summaryShown(structure.id, current);
  // What isn't whole says nothing about permissions either: what was known stays.
  if (!account.speaksOfAlarms) return isWholeAround(structure, account) ? blankSummary : before;

  const others = statesOfOthers(account, map, structure, current);
  const states = [...mappedStates(structure, x, next), ...others.flatMap((one) => one ?? [])];
  // An alarm without an index here that isn't named, or can't be read, may still be sounding: such a "true" isn't taken
  // back before we are told. These are alarms beyond a full range and, in an account of two structures, strays.
  const mayBeUnnamed = structure.alarms.every(isPresent) || map.structures.filter(isPresent).length > 1;
  const mayHideMore = (!account.alarms.isWhole && mayBeUnnamed) || others.includes(undefined);
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

function isWholeAround(structure: StructureSlot, { alarms, structures }: Account): boolean {
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

function summaryShown(structureId: string, values: AttributeValues): AlarmSummary {
  const x = findStructure(values, cleanText(structureId));
  if (x === undefined) return blankSummary;
  const shown = alarmSummaryFields.map((field) => [field, values[structureSummary(x, field)] ?? null]);
  return Object.fromEntries(shown) as AlarmSummary;
}

function mappedStates(structure: StructureSlot, x: number, values: AttributeValues): AlarmStates[] {
  return structure.alarms.flatMap((slot, index) => (isPresent(slot) ? [statesAt(values, x, index + 1)] : []));
}

/** Of alarms that count here without an index here; undefined for one of which nothing is known. */
function statesOfOthers(
  account: Account,
  { structures }: IndexMap,
  structure: StructureSlot,
  current: AttributeValues,
): (AlarmStates | undefined)[] {
  const own = idsIn([structure]);
  const mapped = idsIn(structures);
  const known = knownStructures(account, structures);
  const states: (AlarmStates | undefined)[] = [];
  for (const [id, sighting] of account.alarms.byId) {
    if (own.has(id)) continue;
    const alarm = sighting.isRead ? sighting.object : sighting.partial;
    const isOfHere = alarm.structureId === structure.id && !mapped.has(id);
    if (!isOfHere && !isHomeless(alarm.structureId, known)) continue;
    const isTold = isOfHere || account.structures.isWhole;
    // With an index elsewhere it may belong there: only its structure's list can say so, and that may be missing.
    if (!isTold && mapped.has(id)) states.push(undefined);
    else if (isTold && sighting.isRead) states.push(statesIn(sighting.object));
    else states.push(lastStates(id, current));
  }
  return states;
}

function idsIn(structures: IndexMap["structures"]): ReadonlySet<string> {
  const slots = structures.flatMap((one) => (isPresent(one) ? one.alarms : []));
  return new Set(slots.filter(isPresent).map(({ id }) => id));
}

function statesIn({ smokeAlarmState, coAlarmState }: Alarm): AlarmStates {
  return { smoke: smokeAlarmState, co: coAlarmState };
}

/** Undefined when no state was ever told: a slot that was given to an alarm that can't be read shows none. */
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
