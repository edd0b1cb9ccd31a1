import type { Account } from "./account.ts";
import { isPresent, type Slot } from "./slots.ts";

/**
 * The structures that an alarm can belong to: those of the snapshot, whether or not they have an index, and those that
 * stay present because the snapshot doesn't say which structures there are.
 */
export function knownStructures({ structures }: Account, slots: readonly (Slot | null)[]): ReadonlySet<string> {
  const known = new Set(structures.byId.keys());
  if (!structures.isWhole) for (const slot of slots) if (isPresent(slot)) known.add(slot.id);
  return known;
}

/**
 * Whether an alarm belongs to no structure that is known: it names none and no structure lists it, or it names one that
 * is absent. It is a stray when the snapshot says which structures there are; otherwise its structure may be one that
 * the snapshot left out. The states of a stray still count: an alarm that sounds must never be invisible.
 */
export function isHomeless(structureId: string | null | undefined, known: ReadonlySet<string>): boolean {
  return structureId === null || structureId === undefined || !known.has(structureId);
}

export function countStrayAlarms(account: Account, structureSlots: readonly (Slot | null)[]): number {
  if (!account.structures.isWhole) return 0;
  const known = knownStructures(account, structureSlots);
  let count = 0;
  for (const sighting of account.alarms.byId.values()) {
    const { structureId } = sighting.isRead ? sighting.object : sighting.partial;
    if (isHomeless(structureId, known)) count += 1;
  }
  return count;
}

/** Where stray alarms are placed: in the only structure of the account; undefined when there are two, or none. */
export function homeOfStrays<S extends Slot>({ structures }: Account, slots: readonly (S | null)[]): S | undefined {
  const present = slots.filter(isPresent);
  return structures.isWhole && present.length === 1 ? present[0] : undefined;
}
