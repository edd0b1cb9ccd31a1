import type { Home, ObjectReading } from "../../../src/home/home.ts";
import type { Thing } from "../../../src/home/thing.ts";
import type { Slot } from "../../../src/virtual-device/slots.ts";
import { plant, replace } from "./plant.ts";

const slots = () => import("../../../src/virtual-device/slots.ts");

export const modelPlants = [
  plant(
    "lost-transition",
    "a waiting snapshot gives way to one in which a smoke alarm has another state",
    replace(() => import("../../../src/home/transitions.ts"), {
      sameTransitions: (original) => (waiting, newer) => original(deafToSmoke(waiting), deafToSmoke(newer)),
      sameAlarms: (original) => (waiting, newer) => original(deafToSmoke(waiting), deafToSmoke(newer)),
    }),
  ),
  plant(
    "ghosts-first",
    "a new device takes an absent one's index while others were never used",
    replace(slots, {
      assignSlots: (original) => (range, present, step, newSlotFor) => {
        // Never-used slots are held by devices of our own while the newcomers take those of absent ones.
        const holder = (index: number) => `holder ${index}`;
        const held = range.map((slot, index) => slot ?? { ...newSlotFor(holder(index)), absentSince: null });
        const first = original(
          held,
          new Set([...present, ...held.map(({ id }) => id)].filter(isOf(range, present))),
          step,
          newSlotFor,
        );
        const freed = first.slots.map((slot, index) => (slot?.id === holder(index) ? null : slot));
        const second = original(freed, present, step, newSlotFor);
        const isSame = second.slots.every((slot, index) => slot === range[index]);
        return { ...second, slots: isSame ? range : second.slots, evicted: [...first.evicted, ...second.evicted] };
      },
    }),
  ),
  plant(
    "youngest-ghost",
    "in a full range the one that left last loses its index",
    replace(slots, {
      assignSlots: (original) => (range, present, step, newSlotFor) => {
        const reversed = range.map(withReversedTime);
        const { slots: seated, ...rest } = original(reversed, present, -step, newSlotFor);
        const back = seated.map((slot, index) => (slot === reversed[index] ? range[index]! : withReversedTime(slot)));
        return { ...rest, slots: back.every((slot, index) => slot === range[index]) ? range : back };
      },
    }),
  ),
  plant(
    "requests-inherited",
    "a fan request passes to the thermostat that gets the index",
    replace(() => import("../../../src/virtual-device/attribute-values.ts"), {
      mirrorChanges: (original) => (current, next) =>
        original(current, next).filter(({ attribute }) => (next[attribute] ?? null) !== current[attribute]),
    }),
  ),
];

function deafToSmoke(account: Home): Home {
  const byId = [...account.alarms.byId].map(([id, sighting]): [string, ObjectReading<Thing>] => {
    if (!sighting.isRead) return [id, sighting];
    const { smoke, ...traits } = sighting.object.traits;
    return [id, { ...sighting, object: { ...sighting.object, traits } }];
  });
  return { ...account, alarms: { ...account.alarms, byId: new Map(byId) } };
}

/** Keeps the ids that are present and those of the holders, which no slot of the range has. */
function isOf(range: readonly (Slot | null)[], present: ReadonlySet<string>): (id: string) => boolean {
  const known = new Set(range.map((slot) => slot?.id));
  return (id) => present.has(id) || !known.has(id);
}

function withReversedTime<S extends Slot>(slot: S | null): S | null {
  return slot && slot.absentSince !== null ? { ...slot, absentSince: -slot.absentSince } : slot;
}
