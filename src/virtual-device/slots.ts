/** An index that was assigned to an id. A slot that was never used is null. */
export interface Slot {
  readonly id: string;
  /** The step at which the id was first missing; null while it is present. */
  readonly absentSince: number | null;
}

/** A slot that passed from an absent id to a present one. */
export interface EvictedSlot {
  readonly index: number;
  readonly oldId: string;
  readonly newId: string;
}

export interface SlotAssignment<S extends Slot> {
  /** The same object as the input when nothing changed. */
  readonly slots: readonly (S | null)[];
  readonly evicted: readonly EvictedSlot[];
  /** Present ids without a slot, because other present ids hold all of them. */
  readonly withoutSlot: readonly string[];
}

export function isPresent<S extends Slot>(slot: S | null): slot is S {
  return slot !== null && slot.absentSince === null;
}

export function neverUsed(count: number): readonly null[] {
  return new Array(count).fill(null);
}

/**
 * Assigns the slots of one range to the present ids. New ids take never-used slots, lowest first, sorted by id (the
 * order in a payload means nothing). In a full range the longest absent id loses its slot at once: an absent device
 * must never hide a present alarm.
 */
export function assignSlots<S extends Slot>(
  range: readonly (S | null)[],
  present: ReadonlySet<string>,
  step: number,
  newSlotFor: (id: string) => S,
): SlotAssignment<S> {
  if (isAssigned(range, present)) return { slots: range, evicted: [], withoutSlot: [] };
  const slots = range.map((slot) => slot && withPresence(slot, present.has(slot.id), step));
  const assigned = new Set(slots.map((slot) => slot?.id));
  const newIds = [...present].filter((id) => !assigned.has(id)).sort();
  const evicted: EvictedSlot[] = [];
  const withoutSlot: string[] = [];
  for (const newId of newIds) {
    const free = slots.indexOf(null);
    const index = free >= 0 ? free : longestAbsent(slots);
    if (index < 0) {
      withoutSlot.push(newId);
      continue;
    }
    const old = slots[index];
    if (old) evicted.push({ index, oldId: old.id, newId });
    slots[index] = newSlotFor(newId);
  }
  const isSame = slots.every((slot, index) => slot === range[index]);
  return { slots: isSame ? range : slots, evicted, withoutSlot };
}

/** Whether exactly the present ids hold slots as present ones, which is so for most snapshots. */
function isAssigned(range: readonly (Slot | null)[], present: ReadonlySet<string>): boolean {
  let held = 0;
  for (const slot of range) {
    if (slot === null) continue;
    const isNowPresent = present.has(slot.id);
    if (isNowPresent !== isPresent(slot)) return false;
    if (isNowPresent) held += 1;
  }
  return held === present.size;
}

function withPresence<S extends Slot>(slot: S, isNowPresent: boolean, step: number): S {
  if (isNowPresent === isPresent(slot)) return slot;
  return { ...slot, absentSince: isNowPresent ? null : step };
}

/** The index of the longest absent id, the lowest among equals; -1 when none is absent. */
function longestAbsent(slots: readonly (Slot | null)[]): number {
  let longest = -1;
  let since = Number.POSITIVE_INFINITY;
  slots.forEach((slot, index) => {
    if (slot && slot.absentSince !== null && slot.absentSince < since) [longest, since] = [index, slot.absentSince];
  });
  return longest;
}
