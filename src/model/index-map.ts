import type { Account, Listing, Structure } from "./account.ts";
import { alarmLimit, structureLimit, thermostatLimit } from "./attribute-names.ts";
import { isPresent, type Lost, neverUsed, type Slot, seat } from "./slots.ts";
import { homeOfStrays, isHomeless, knownStructures } from "./stray-alarms.ts";

/**
 * Which ecosystem id holds which index X or Y, kept with the link (docs/interface.md, The virtual device). An index once given
 * stays with its id through rename, absence and return: clients and triggers name things by it.
 */
export interface IndexMap {
  /** Rises with each assignment that changes anything; absence is measured in it, so that no clock can reorder it. */
  readonly step: number;
  readonly structures: readonly (StructureSlot | null)[];
}

export interface StructureSlot extends Slot {
  readonly thermostats: readonly (Slot | null)[];
  readonly alarms: readonly (Slot | null)[];
}

export interface Assignment {
  /** The very map that was given when nothing changed. */
  readonly map: IndexMap;
  readonly overLimit: OverLimit;
  readonly evicted: readonly Eviction[];
}

/** What is there but has no index: ids of structures; devices counted over the structures that have one. */
export interface OverLimit {
  readonly structures: readonly string[];
  readonly thermostats: number;
  readonly alarms: number;
}

/** A slot that passed to another id. A structure's eviction stands for all slots below it: its devices lost theirs too. */
export type Eviction =
  | { readonly kind: "structure"; readonly x: number; readonly oldId: string; readonly newId: string }
  | {
      readonly kind: DeviceKind;
      readonly x: number;
      readonly y: number;
      readonly oldId: string;
      readonly newId: string;
    };

export type DeviceKind = "thermostat" | "alarm";

export const emptyIndexMap: IndexMap = { step: 0, structures: neverUsed(structureLimit) };

/** The map after a snapshot: who is present, who is absent, and which index each newcomer takes. */
export function assignIndexes(map: IndexMap, account: Account): Assignment {
  const step = map.step + 1;
  const structures = seat(map.structures, presentStructures(map, account.structures), step, newStructureSlot);
  const thermostatsIn = presentDevices("thermostats", structures.slots, account);
  const alarmsIn = presentDevices("alarms", structures.slots, account);

  const evicted: Eviction[] = structures.lost.map(({ index, ...ids }) => ({ kind: "structure", x: index + 1, ...ids }));
  const overLimit = { structures: structures.unseated, thermostats: 0, alarms: 0 };
  const slots = structures.slots.map((slot, index) => {
    if (slot === null) return null;
    const thermostats = seat(slot.thermostats, thermostatsIn[index]!, step, newDeviceSlot);
    const alarms = seat(slot.alarms, alarmsIn[index]!, step, newDeviceSlot);
    overLimit.thermostats += thermostats.unseated.length;
    overLimit.alarms += alarms.unseated.length;
    for (const lost of thermostats.lost) evicted.push(deviceEviction("thermostat", index, lost));
    for (const lost of alarms.lost) evicted.push(deviceEviction("alarm", index, lost));
    const isSame = thermostats.slots === slot.thermostats && alarms.slots === slot.alarms;
    return isSame ? slot : { ...slot, thermostats: thermostats.slots, alarms: alarms.slots };
  });
  const isSame = slots.every((slot, index) => slot === map.structures[index]);
  return { map: isSame ? map : { step, structures: slots }, overLimit, evicted };
}

function presentStructures(map: IndexMap, listing: Listing<Structure>): ReadonlySet<string> {
  const present = new Set(listing.byId.keys());
  if (!listing.isWhole) for (const slot of map.structures) if (isPresent(slot)) present.add(slot.id);
  return present;
}

type DeviceRange = "thermostats" | "alarms";

/** For each structure slot the ids of the devices that are there now. In a structure that is gone there are none. */
function presentDevices(
  range: DeviceRange,
  structures: readonly (StructureSlot | null)[],
  account: Account,
): readonly ReadonlySet<string>[] {
  const devices: Listing<{ readonly structureId: string | null }> = account[range];
  const present = structures.map(() => new Set<string>());
  const known = knownStructures(account, structures);
  const forStrays = range === "alarms" ? homeOfStrays(account, structures) : undefined;
  const indexOf = (home: string | null | undefined) =>
    structures.findIndex((slot) => isPresent(slot) && slot.id === home);
  for (const [id, sighting] of devices.byId) {
    const { structureId } = sighting.isRead ? sighting.object : sighting.partial;
    // A sighting that doesn't say where leaves the device where we last saw it.
    const saysWhere = structureId != null && (known.has(structureId) || account.structures.isWhole);
    let index = indexOf(saysWhere ? structureId : lastHome(range, structures, id));
    if (index < 0 && forStrays && isHomeless(structureId, known)) index = structures.indexOf(forStrays);
    if (index >= 0) present[index]!.add(id);
  }
  structures.forEach((structure, index) => {
    if (!isPresent(structure) || tellsWhoIsGone(devices.isWhole, account.structures, structure.id)) return;
    for (const slot of structure[range]) {
      if (isPresent(slot) && !devices.byId.has(slot.id)) present[index]!.add(slot.id);
    }
  });
  return present;
}

/** The structure in which the device is present or, absent everywhere, was last as far as slots still remember. */
function lastHome(range: DeviceRange, structures: readonly (StructureSlot | null)[], id: string): string | null {
  let home: string | null = null;
  let seenUntil = -1;
  for (const structure of structures) {
    const slot = structure?.[range].find((slot) => slot?.id === id);
    if (!structure || !slot) continue;
    const until = slot.absentSince ?? Number.POSITIVE_INFINITY;
    if (until > seenUntil) [home, seenUntil] = [structure.id, until];
  }
  return home;
}

/** A device is gone only when both its own listing and its structure's list were there to name it. */
function tellsWhoIsGone(isWhole: boolean, structures: Listing<Structure>, structureId: string): boolean {
  const sighting = structures.byId.get(structureId);
  if (!isWhole || sighting === undefined) return false;
  return (sighting.isRead ? sighting.object : sighting.partial).listsDevices === true;
}

function deviceEviction(kind: DeviceKind, structureIndex: number, { index, oldId, newId }: Lost): Eviction {
  return { kind, x: structureIndex + 1, y: index + 1, oldId, newId };
}

function newDeviceSlot(id: string): Slot {
  return { id, absentSince: null };
}

function newStructureSlot(id: string): StructureSlot {
  return { id, absentSince: null, thermostats: neverUsed(thermostatLimit), alarms: neverUsed(alarmLimit) };
}
