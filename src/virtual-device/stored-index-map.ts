import { alarmLimit, structureLimit, thermostatLimit } from "./attribute-names.ts";
import type { IndexMap, StructureSlot } from "./index-map.ts";
import type { Slot } from "./slots.ts";

/**
 * The stored form of the index map: `[step, [structure, structure]]`, a structure `[id, absentSince, thermostats,
 * alarms]`, a device `[id, absentSince]`. Slots are assigned from the lowest up, so trailing unused slots are omitted.
 */
export function encodeIndexMap(map: IndexMap): string {
  const structures = withoutUnusedEnd(map.structures).map(
    (slot) => slot && [slot.id, slot.absentSince, encodeSlots(slot.thermostats), encodeSlots(slot.alarms)],
  );
  return JSON.stringify([map.step, structures]);
}

/** Parses the output of `encodeIndexMap`. Anything else throws: a wrong index would show one device as another. */
export function decodeIndexMap(text: string): IndexMap {
  const [step, structures] = tuple(JSON.parse(text), 2);
  if (!Number.isSafeInteger(step) || (step as number) < 0) throw unreadable("its step is no count");
  const decodeStructure = (value: unknown): StructureSlot => {
    const [id, absentSince, thermostats, alarms] = tuple(value, 4);
    return {
      ...decodeSlot([id, absentSince], step as number),
      thermostats: decodeSlots(thermostats, thermostatLimit, (slot) => decodeSlot(slot, step as number)),
      alarms: decodeSlots(alarms, alarmLimit, (slot) => decodeSlot(slot, step as number)),
    };
  };
  return { step: step as number, structures: decodeSlots(structures, structureLimit, decodeStructure) };
}

function encodeSlots(slots: readonly (Slot | null)[]): unknown[] {
  return withoutUnusedEnd(slots).map((slot) => slot && [slot.id, slot.absentSince]);
}

function withoutUnusedEnd<S extends Slot>(slots: readonly (S | null)[]): readonly (S | null)[] {
  return slots.slice(0, slots.findLastIndex((slot) => slot !== null) + 1);
}

function decodeSlots<S extends Slot>(value: unknown, limit: number, decode: (slot: unknown) => S): (S | null)[] {
  if (!Array.isArray(value) || value.length > limit) throw unreadable(`it has no list of at most ${limit} slots`);
  const slots: (S | null)[] = new Array(limit).fill(null);
  const ids = new Set<string>();
  value.forEach((item, index) => {
    if (item === null) return;
    const slot = decode(item);
    if (ids.has(slot.id)) throw unreadable("an id has two slots");
    ids.add(slot.id);
    slots[index] = slot;
  });
  return slots;
}

function decodeSlot(value: unknown, step: number): Slot {
  const [id, absentSince] = tuple(value, 2);
  if (typeof id !== "string") throw unreadable("an id is no text");
  if (absentSince === null) return { id, absentSince };
  if (!Number.isSafeInteger(absentSince)) throw unreadable("an absence is no step");
  const since = absentSince as number;
  if (since < 1 || since > step) throw unreadable("an absence began at a step that never was");
  return { id, absentSince: since };
}

function tuple(value: unknown, length: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length !== length) throw unreadable(`a part is no list of ${length}`);
  return value;
}

function unreadable(what: string): Error {
  return new Error(`The stored index map can't be read: ${what}.`);
}
