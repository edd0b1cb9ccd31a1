import type { Home } from "../home/home.ts";
import { isPresent, type Slot } from "./slots.ts";

/**
 * The structures that an alarm can belong to: those in the snapshot, with or without an index, and, when the snapshot
 * does not list all structures, those that were present before.
 */
export function knownStructures({ structures }: Home, slots: readonly (Slot | null)[]): ReadonlySet<string> {
  const known = new Set(structures.byId.keys());
  if (!structures.isWhole) for (const slot of slots) if (isPresent(slot)) known.add(slot.id);
  return known;
}

/**
 * Whether an alarm belongs to no known structure: it names none and no structure lists it, or it names an absent one.
 * If the snapshot lists all structures, the alarm is a stray; otherwise the snapshot may have left out its structure.
 * The states of a stray still count: a sounding alarm must never be invisible.
 */
export function hasNoKnownStructure(structureId: string | null | undefined, known: ReadonlySet<string>): boolean {
  return structureId === null || structureId === undefined || !known.has(structureId);
}

export function countStrayAlarms(home: Home, structureSlots: readonly (Slot | null)[]): number {
  if (!home.structures.isWhole) return 0;
  const known = knownStructures(home, structureSlots);
  let count = 0;
  for (const sighting of home.alarms.byId.values()) {
    const { structureId } = sighting.isRead ? sighting.object : sighting.partial;
    if (hasNoKnownStructure(structureId, known)) count += 1;
  }
  return count;
}

/**
 * The structure that stray alarms are assigned to: the only one of the account. Undefined when there are two or none, or
 * when the snapshot does not list all structures.
 */
export function structureForStrays<S extends Slot>({ structures }: Home, slots: readonly (S | null)[]): S | undefined {
  const present = slots.filter(isPresent);
  return structures.isWhole && present.length === 1 ? present[0] : undefined;
}
