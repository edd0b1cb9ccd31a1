import type { Home, Listing, Structure } from "../home/home.ts";
import { alarmLimit, structureLimit, thermostatLimit } from "./attribute-names.ts";
import { assignSlots, type EvictedSlot, isPresent, neverUsed, type Slot } from "./slots.ts";
import { hasNoKnownStructure, knownStructures, structureForStrays } from "./stray-alarms.ts";

/**
 * Which ecosystem id holds which index X or Y, stored with the link (docs/interface.md, The virtual device). An
 * assigned index stays with its id through rename, absence and return: clients and triggers name devices by it.
 */
export interface IndexMap {
  /**
   * A counter that rises with each assignment that changes the map. Absence is measured in it, so a clock that jumps
   * can't reorder absences.
   */
  readonly step: number;
  readonly structures: readonly (StructureSlot | null)[];
}

export interface StructureSlot extends Slot {
  readonly thermostats: readonly (Slot | null)[];
  readonly alarms: readonly (Slot | null)[];
}

export interface Assignment {
  /** The same object as the input when nothing changed. */
  readonly map: IndexMap;
  readonly overLimit: OverLimit;
  readonly evicted: readonly Eviction[];
}

/** Present objects without an index: the ids of structures, and counts of devices in structures with an index. */
export interface OverLimit {
  readonly structures: readonly string[];
  readonly thermostats: number;
  readonly alarms: number;
}

/** A slot that passed to another id. Eviction of a structure includes all its device slots. */
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

/** Computes the map after a snapshot: which ids are present or absent, and which index each new id gets. */
export function assignIndexes(map: IndexMap, home: Home): Assignment {
  const step = map.step + 1;
  const structures = assignSlots(map.structures, presentStructures(map, home.structures), step, newStructureSlot);
  const thermostatsIn = presentDevices("thermostats", structures.slots, home);
  const alarmsIn = presentDevices("alarms", structures.slots, home);

  const evicted: Eviction[] = structures.evicted.map(({ index, ...ids }) => ({
    kind: "structure",
    x: index + 1,
    ...ids,
  }));
  const overLimit = { structures: structures.withoutSlot, thermostats: 0, alarms: 0 };
  const slots = structures.slots.map((slot, index) => {
    if (slot === null) return null;
    const thermostats = assignSlots(slot.thermostats, thermostatsIn[index]!, step, newDeviceSlot);
    const alarms = assignSlots(slot.alarms, alarmsIn[index]!, step, newDeviceSlot);
    overLimit.thermostats += thermostats.withoutSlot.length;
    overLimit.alarms += alarms.withoutSlot.length;
    for (const slot of thermostats.evicted) evicted.push(deviceEviction("thermostat", index, slot));
    for (const slot of alarms.evicted) evicted.push(deviceEviction("alarm", index, slot));
    const isSame = thermostats.slots === slot.thermostats && alarms.slots === slot.alarms;
    return isSame ? slot : { ...slot, thermostats: thermostats.slots, alarms: alarms.slots };
  });
  const isSame = slots.every((slot, index) => slot === map.structures[index]);
  return { map: isSame ? map : { step, structures: slots }, overLimit, evicted };
}

/** When the snapshot does not list all structures, those that were present stay present. */
function presentStructures(map: IndexMap, listing: Listing<Structure>): ReadonlySet<string> {
  const present = new Set(listing.byId.keys());
  if (!listing.isWhole) for (const slot of map.structures) if (isPresent(slot)) present.add(slot.id);
  return present;
}

type DeviceRange = "thermostats" | "alarms";

/** For each structure slot the ids of its present devices. An absent structure has none. */
function presentDevices(
  range: DeviceRange,
  structures: readonly (StructureSlot | null)[],
  home: Home,
): readonly ReadonlySet<string>[] {
  const devices: Listing<{ readonly structureId: string | null }> = home[range];
  const present = structures.map(() => new Set<string>());
  const known = knownStructures(home, structures);
  const strayStructure = range === "alarms" ? structureForStrays(home, structures) : undefined;
  const indexOf = (id: string | null | undefined) => structures.findIndex((slot) => isPresent(slot) && slot.id === id);
  for (const [id, sighting] of devices.byId) {
    const { structureId } = sighting.isRead ? sighting.object : sighting.partial;
    // A device stays in its last structure when it names none, or names an unknown one while the snapshot does not list
    // all structures.
    const namesStructure = structureId != null && (known.has(structureId) || home.structures.isWhole);
    let index = indexOf(namesStructure ? structureId : lastStructure(range, structures, id));
    if (index < 0 && strayStructure && hasNoKnownStructure(structureId, known))
      index = structures.indexOf(strayStructure);
    if (index >= 0) present[index]!.add(id);
  }
  structures.forEach((structure, index) => {
    if (!isPresent(structure) || listsAllDevices(devices.isWhole, home.structures, structure.id)) return;
    for (const slot of structure[range]) {
      if (isPresent(slot) && !devices.byId.has(slot.id)) present[index]!.add(slot.id);
    }
  });
  return present;
}

/**
 * The structure in which the device is present. For a device that is absent everywhere: the structure that it left last;
 * null when no slot holds its id.
 */
function lastStructure(range: DeviceRange, structures: readonly (StructureSlot | null)[], id: string): string | null {
  let structureId: string | null = null;
  let seenUntil = -1;
  for (const structure of structures) {
    const slot = structure?.[range].find((slot) => slot?.id === id);
    if (!structure || !slot) continue;
    const until = slot.absentSince ?? Number.POSITIVE_INFINITY;
    if (until > seenUntil) [structureId, seenUntil] = [structure.id, until];
  }
  return structureId;
}

/** A missing device counts as absent only when both its own listing and its structure's list are complete. */
function listsAllDevices(isWhole: boolean, structures: Listing<Structure>, structureId: string): boolean {
  const sighting = structures.byId.get(structureId);
  if (!isWhole || sighting === undefined) return false;
  return (sighting.isRead ? sighting.object : sighting.partial).listsDevices === true;
}

function deviceEviction(kind: DeviceKind, structureIndex: number, { index, oldId, newId }: EvictedSlot): Eviction {
  return { kind, x: structureIndex + 1, y: index + 1, oldId, newId };
}

function newDeviceSlot(id: string): Slot {
  return { id, absentSince: null };
}

function newStructureSlot(id: string): StructureSlot {
  return { id, absentSince: null, thermostats: neverUsed(thermostatLimit), alarms: neverUsed(alarmLimit) };
}
