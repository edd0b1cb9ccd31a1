import { type TraitName, traitNames, traits } from "./catalogue.ts";
import type { Home, Listing, ObjectReading, Structure } from "./home.ts";
import type { Thing } from "./thing.ts";

/**
 * Whether a newer snapshot may replace a waiting one without losing a transition: the transition fields of all traits
 * are equal for the same ids, and the same parts are unreadable. Names, levels and samples may differ, since only their
 * newest value matters.
 */
export function sameTransitions(waiting: Home, newer: Home): boolean {
  return (
    sameAlarms(waiting, newer) &&
    sameListing(waiting.structures, newer.structures, sameStructure) &&
    sameListing(waiting.thermostats, newer.thermostats, sameThing) &&
    sameListing(waiting.alarms, newer.alarms, sameThing) &&
    sameOthers(waiting.others, newer.others)
  );
}

/** Whether two readings of one object have the same transition fields and alarm words. */
export function sameReadings<T extends Thing | Structure>(before: ObjectReading<T>, after: ObjectReading<T>): boolean {
  if (before === after) return true;
  if (before.isRead !== after.isRead) return false;
  const [older, newer]: readonly Partial<Thing & Structure>[] = [seenOf(before), seenOf(after)];
  return sameStructure(older!, newer!) && sameAlarm(older!, newer!) && sameThing(older!, newer!);
}

/** Whether all alarm states are equal. A commit before a snapshot whose alarm states differ should hurry. */
export function sameAlarms(waiting: Home, newer: Home): boolean {
  return waiting.speaksOfAlarms === newer.speaksOfAlarms && sameListing(waiting.alarms, newer.alarms, sameAlarm);
}

function sameOthers(waiting: Listing<Thing> | undefined, newer: Listing<Thing> | undefined): boolean {
  if (!waiting || !newer) return waiting === newer;
  return sameListing(waiting, newer, sameThing);
}

function sameStructure(waiting: Partial<Structure>, newer: Partial<Structure>): boolean {
  return waiting.listsDevices === newer.listsDevices && waiting.presence?.state.state === newer.presence?.state.state;
}

function sameAlarm(waiting: Partial<Thing>, newer: Partial<Thing>): boolean {
  return waiting.structureId === newer.structureId && alarmTraits.every((name) => sameWord(name, waiting, newer));
}

const alarmTraits = ["smoke", "carbonMonoxide"] as const;

function sameWord(name: (typeof alarmTraits)[number], waiting: Partial<Thing>, newer: Partial<Thing>): boolean {
  const [before, after] = [waiting.traits?.[name]?.state, newer.traits?.[name]?.state];
  return before?.state === after?.state && before?.word === after?.word;
}

/** Called for every thing of a snapshot that arrives while another waits, so it allocates nothing. */
function sameThing(waiting: Partial<Thing>, newer: Partial<Thing>): boolean {
  if (waiting.structureId !== newer.structureId) return false;
  for (const { name, fields } of transitionTraits) {
    const before: Readonly<Record<string, unknown>> | undefined = waiting.traits?.[name]?.state;
    const after: Readonly<Record<string, unknown>> | undefined = newer.traits?.[name]?.state;
    if (before === after) continue;
    for (const field of fields) if (before?.[field] !== after?.[field]) return false;
  }
  return true;
}

/** The traits that have transition fields. */
const transitionTraits: readonly { readonly name: TraitName; readonly fields: readonly string[] }[] = traitNames
  .map((name) => {
    const fields = Object.entries(traits[name].fields).filter(([, { kind }]) => kind === "transition");
    return { name, fields: fields.map(([field]) => field) };
  })
  .filter(({ fields }) => fields.length > 0);

function sameListing<T>(
  waiting: Listing<T>,
  newer: Listing<T>,
  isSame: (before: Partial<T>, after: Partial<T>) => boolean,
): boolean {
  if (waiting === newer) return true;
  if (waiting.isWhole !== newer.isWhole || waiting.byId.size !== newer.byId.size) return false;
  for (const [id, sighting] of waiting.byId) {
    const other = newer.byId.get(id);
    if (other === sighting) continue;
    if (other?.isRead !== sighting.isRead || !isSame(seenOf(sighting), seenOf(other))) return false;
  }
  return true;
}

function seenOf<T>(sighting: ObjectReading<T>): Partial<T> {
  return sighting.isRead ? sighting.object : sighting.partial;
}
