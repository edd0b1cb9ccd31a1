/** An index that was given; a slot that never was is null. */
export interface Slot {
  readonly id: string;
  /** The step at which the id was first missed; null while it is present. */
  readonly absentSince: number | null;
}

/** A slot that passed from an absent id to a present one. */
export interface Lost {
  readonly index: number;
  readonly oldId: string;
  readonly newId: string;
}

export interface Seating<S extends Slot> {
  /** The very range that was given when nothing changed. */
  readonly slots: readonly (S | null)[];
  readonly lost: readonly Lost[];
  /** Present, but all slots are taken by others that are present too. */
  readonly unseated: readonly string[];
}

export function isPresent<S extends Slot>(slot: S | null): slot is S {
  return slot !== null && slot.absentSince === null;
}

export function neverUsed(count: number): readonly null[] {
  return new Array(count).fill(null);
}

/**
 * One range of slots with those present now. Newcomers take never-used slots, lowest first and in the order of their ids
 * (the order in a payload says nothing); in a full range the longest absent id loses its slot at once, because an alarm
 * must never be invisible for the sake of a ghost.
 */
export function seat<S extends Slot>(
  range: readonly (S | null)[],
  present: ReadonlySet<string>,
  step: number,
  newSlotFor: (id: string) => S,
): Seating<S> {
  const slots = range.map((slot) => slot && withPresence(slot, present.has(slot.id), step));
  const seated = new Set(slots.map((slot) => slot?.id));
  const newcomers = [...present].filter((id) => !seated.has(id)).sort();
  const lost: Lost[] = [];
  const unseated: string[] = [];
  for (const newId of newcomers) {
    const free = slots.indexOf(null);
    const index = free >= 0 ? free : longestAbsent(slots);
    if (index < 0) {
      unseated.push(newId);
      continue;
    }
    const old = slots[index];
    if (old) lost.push({ index, oldId: old.id, newId });
    slots[index] = newSlotFor(newId);
  }
  const isSame = slots.every((slot, index) => slot === range[index]);
  return { slots: isSame ? range : slots, lost, unseated };
}

function withPresence<S extends Slot>(slot: S, isThere: boolean, step: number): S {
  if (isThere === isPresent(slot)) return slot;
  return { ...slot, absentSince: isThere ? null : step };
}

/** Of those that went absent in one step, the lowest index goes first. */
function longestAbsent(slots: readonly (Slot | null)[]): number {
  let longest = -1;
  let since = Number.POSITIVE_INFINITY;
  slots.forEach((slot, index) => {
    if (slot && slot.absentSince !== null && slot.absentSince < since) [longest, since] = [index, slot.absentSince];
  });
  return longest;
}
