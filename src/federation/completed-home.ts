import { odditiesOf } from "../ecosystems/kit/whole-home.ts";
import type { Home, Listing, ObjectReading, Structure } from "../home/home.ts";
import type { Thing } from "../home/thing.ts";

/**
 * An incomplete home, completed by an older one. What the newer one shows stays as it is, and only what it leaves out
 * is taken from the older one.
 */
export function completedHome(newer: Home, older: Home): Home {
  // Devices are named by their own listing and by their structures: only all of them together say that one is gone.
  const saysAllDevices = newer.structures.isWhole && [...newer.structures.byId.values()].every(listsDevices);
  const devices = (newerDevices: Listing<Thing>, olderDevices: Listing<Thing>) =>
    completedListing(newerDevices, olderDevices, completedDevice, (device) => {
      return !(newerDevices.isWhole && saysAllDevices) && !isStructureGone(newer, older, device);
    });
  const others = newer.others && older.others ? devices(newer.others, older.others) : (newer.others ?? older.others);
  const parts = {
    structures: completedListing(
      newer.structures,
      older.structures,
      completedStructure,
      () => !newer.structures.isWhole,
    ),
    thermostats: devices(newer.thermostats, older.thermostats),
    alarms: devices(newer.alarms, older.alarms),
    ...(others && { others }),
  };
  return {
    ...parts,
    speaksOfAlarms: newer.speaksOfAlarms || older.speaksOfAlarms,
    oddities: odditiesOf(parts),
  };
}

/** `isTaken`: whether an object that the newer listing leaves out is taken from the older one. */
function completedListing<T>(
  newer: Listing<T>,
  older: Listing<T>,
  complete: (newer: ObjectReading<T>, older: ObjectReading<T>) => ObjectReading<T>,
  isTaken: (older: ObjectReading<T>) => boolean,
): Listing<T> {
  const byId = new Map(newer.byId);
  for (const [id, sighting] of older.byId) {
    const present = byId.get(id);
    if (present) byId.set(id, complete(present, sighting));
    else if (isTaken(sighting)) byId.set(id, sighting);
  }
  return { isWhole: newer.isWhole || older.isWhole, byId };
}

/** A device went with its structure: it must not appear in another one. */
function isStructureGone(
  { structures: newer }: Home,
  { structures: older }: Home,
  device: ObjectReading<Thing>,
): boolean {
  const { structureId } = device.isRead ? device.object : device.partial;
  return structureId != null && newer.isWhole && older.byId.has(structureId) && !newer.byId.has(structureId);
}

/** An unreadable device may still show its name, and to which structure it was moved. */
function completedDevice(newer: ObjectReading<Thing>, older: ObjectReading<Thing>): ObjectReading<Thing> {
  if (newer.isRead || !older.isRead) return newer;
  const { object } = older;
  const { name, structureId } = newer.partial;
  return {
    isRead: true,
    object: { ...object, name: name ?? object.name, structureId: structureId ?? object.structureId },
  };
}

/** The devices of the older home are kept where the newer one does not list them: the older structure lists them. */
function completedStructure(
  newer: ObjectReading<Structure>,
  older: ObjectReading<Structure>,
): ObjectReading<Structure> {
  if (!older.isRead) return newer;
  const object = newer.isRead ? newer.object : { ...older.object, name: newer.partial.name ?? older.object.name };
  return { isRead: true, object: { ...object, listsDevices: object.listsDevices || older.object.listsDevices } };
}

function listsDevices(sighting: ObjectReading<Structure>): boolean {
  return sighting.isRead && sighting.object.listsDevices;
}
