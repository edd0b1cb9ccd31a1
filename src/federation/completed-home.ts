import { odditiesOf } from "../ecosystems/kit/whole-home.ts";
import type { Home, Listing, Sighting, Structure } from "../home/home.ts";

/**
 * An incomplete home, completed by an older one. What the newer one shows stays as it is, and only what it leaves out
 * is taken from the older one.
 */
export function completedHome(newer: Home, older: Home): Home {
  // Devices are named by their own listing and by their structures: only all of them together say that one is gone.
  const saysAllDevices = newer.structures.isWhole && [...newer.structures.byId.values()].every(listsDevices);
  const others = newer.others && older.others && completedListing(newer.others, older.others, saysAllDevices);
  const parts = {
    structures: completedListing(newer.structures, older.structures, true, completedStructure),
    thermostats: completedListing(newer.thermostats, older.thermostats, saysAllDevices),
    alarms: completedListing(newer.alarms, older.alarms, saysAllDevices),
    ...((others ?? newer.others ?? older.others) && { others: (others ?? newer.others ?? older.others)! }),
  };
  return {
    ...parts,
    speaksOfAlarms: newer.speaksOfAlarms || older.speaksOfAlarms,
    oddities: odditiesOf(parts),
  };
}

type Named = { readonly name: string | null };

function completedListing<T extends Named>(
  newer: Listing<T>,
  older: Listing<T>,
  saysAll: boolean,
  complete: (newer: Sighting<T>, older: Sighting<T>) => Sighting<T> = completedSighting,
): Listing<T> {
  const byId = new Map(newer.byId);
  for (const [id, sighting] of older.byId) {
    const present = byId.get(id);
    if (present) byId.set(id, complete(present, sighting));
    else if (!newer.isWhole || !saysAll) byId.set(id, sighting);
  }
  return { isWhole: newer.isWhole || older.isWhole, byId };
}

function completedSighting<T extends Named>(newer: Sighting<T>, older: Sighting<T>): Sighting<T> {
  if (newer.isRead || !older.isRead) return newer;
  return { isRead: true, object: { ...older.object, name: newer.partial.name ?? older.object.name } };
}

/** The devices of the older home are kept where the newer one does not list them: the older structure lists them. */
function completedStructure(newer: Sighting<Structure>, older: Sighting<Structure>): Sighting<Structure> {
  const completed = completedSighting(newer, older);
  if (!completed.isRead || !listsDevices(older)) return completed;
  return { isRead: true, object: { ...completed.object, listsDevices: true } };
}

function listsDevices(sighting: Sighting<Structure>): boolean {
  return sighting.isRead && sighting.object.listsDevices;
}
