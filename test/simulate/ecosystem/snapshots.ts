import type { Listing, ObjectReading, Home as ReportedHome, Structure } from "../../../src/home/home.ts";
import { type AwayWord, alarmThing, presence, thermostatThing } from "../../home/home-parts.ts";
import type { HomeTruth } from "../checks/history.ts";
import type { Dice } from "../dice.ts";

/** The home as a complete, readable snapshot. */
export function clearSnapshot(home: HomeTruth): ReportedHome {
  const structures = [...home.structures].map(([id, { name, away }]): [string, Structure] => [
    id,
    { name, presence: presence(away as AwayWord), listsDevices: true },
  ]);
  return {
    structures: whole(new Map(structures)),
    thermostats: whole(made(home.thermostats, thermostatThing)),
    alarms: whole(made(home.alarms, alarmThing)),
    speaksOfAlarms: home.speaksOfAlarms,
    oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
  };
}

/** The same with parts missing: incomplete lists, unreadable objects. */
export function incompleteSnapshot(home: HomeTruth, dice: Dice): ReportedHome {
  const clear = clearSnapshot(home);
  const structures = incomplete(clear.structures, dice, ["name", "listsDevices"]);
  const oddities = { ...clear.oddities, incomplete: 1 };
  const isSilent = dice.chance(0.05);
  if (isSilent) return { ...clear, structures: nothing(), thermostats: nothing(), alarms: nothing(), oddities };
  const lists = dice.chance(0.3) ? structures : clear.structures;
  return {
    structures: dice.chance(0.2) ? withoutLists(lists) : lists,
    thermostats: dice.chance(0.6) ? incomplete(clear.thermostats, dice, ["name", "structureId"]) : clear.thermostats,
    alarms: dice.chance(0.6) ? incomplete(clear.alarms, dice, ["name", "structureId"]) : clear.alarms,
    speaksOfAlarms: clear.speaksOfAlarms,
    oddities,
  };
}

function made<Truth, T>(truths: ReadonlyMap<string, Truth>, make: (truth: Truth) => T): ReadonlyMap<string, T> {
  return new Map([...truths].map(([id, truth]) => [id, make(truth)]));
}

function whole<T>(objects: ReadonlyMap<string, T>): Listing<T> {
  return { isWhole: true, byId: new Map([...objects].map(([id, object]) => [id, { isRead: true, object }])) };
}

function nothing<T>(): Listing<T> {
  return { isWhole: false, byId: new Map() };
}

function incomplete<T extends object>(listing: Listing<T>, dice: Dice, fields: readonly (keyof T)[]): Listing<T> {
  const isWhole = dice.chance(0.5);
  const byId = new Map<string, ObjectReading<T>>();
  for (const [id, sighting] of listing.byId) {
    if (!isWhole && dice.chance(0.3)) continue;
    const partial: Partial<T> = {};
    if (sighting.isRead) for (const field of fields) if (dice.chance(0.5)) partial[field] = sighting.object[field];
    byId.set(id, dice.chance(0.3) ? { isRead: false, partial } : sighting);
  }
  return { isWhole, byId };
}

function withoutLists(listing: Listing<Structure>): Listing<Structure> {
  const byId = [...listing.byId].map(([id, sighting]): [string, ObjectReading<Structure>] => [
    id,
    sighting.isRead ? { isRead: true, object: { ...sighting.object, listsDevices: false } } : sighting,
  ]);
  return { isWhole: listing.isWhole, byId: new Map(byId) };
}
