import type { Account, Listing, Oddities } from "./account.ts";
import type { AttributeValues } from "./attribute-values.ts";
import type { IndexMap } from "./index-map.ts";
import { mirrorAlarm, mirrorAlarmSummary, mirrorStructure, mirrorThermostat } from "./mirror.ts";
import { isPresent, type Slot } from "./slots.ts";

/**
 * The values after a snapshot that differs from the one before only in what some of its objects say: these alone are
 * mirrored, into the slots that they have. `map` and `current` are what the one before led to. Undefined when more is
 * different, such as who is there or where: then all has to be looked at.
 */
export function mirrorTouched(
  before: Account,
  account: Account,
  map: IndexMap,
  current: AttributeValues,
): AttributeValues | undefined {
  if (before.speaksOfAlarms !== account.speaksOfAlarms || !sameOddities(before.oddities, account.oddities)) {
    return undefined;
  }
  const structures = touchedIn(before.structures, account.structures, (one, other) => {
    return one.listsDevices === other.listsDevices;
  });
  const thermostats = touchedIn(before.thermostats, account.thermostats, sameHome);
  const alarms = touchedIn(before.alarms, account.alarms, sameHome);
  if (!structures || !thermostats || !alarms) return undefined;
  const next = current.slice();
  map.structures.forEach((structure, index) => {
    if (!isPresent(structure)) return;
    const x = index + 1;
    if (structures.includes(structure.id)) {
      mirrorStructure(account.structures.byId.get(structure.id), structure, x, current, next);
    }
    for (const [slot, y] of slotsOf(thermostats, structure.thermostats)) {
      mirrorThermostat(account.thermostats.byId.get(slot.id), slot, x, y, current, next);
    }
    for (const [slot, y] of slotsOf(alarms, structure.alarms)) {
      mirrorAlarm(account.alarms.byId.get(slot.id), slot, x, y, current, next);
    }
    // One without a slot counts too.
    if (alarms.length > 0) mirrorAlarmSummary(account, map, structure, x, current, next);
  });
  return next;
}

function sameOddities(one: Oddities, other: Oddities): boolean {
  return (
    one === other ||
    (one.incomplete === other.incomplete &&
      one.unknownAlarmStates === other.unknownAlarmStates &&
      one.unknownAwayStates === other.unknownAwayStates)
  );
}

type Placed = { readonly structureId: string | null };

function sameHome(one: Placed, other: Placed): boolean {
  return one.structureId === other.structureId;
}

/** The ids of those that don't say what they said before; undefined when they aren't the same ones in the same places. */
function touchedIn<T>(
  before: Listing<T>,
  now: Listing<T>,
  isInPlace: (one: T, other: T) => boolean,
): readonly string[] | undefined {
  if (before.byId === now.byId && before.isWhole === now.isWhole) return [];
  if (before.isWhole !== now.isWhole || before.byId.size !== now.byId.size) return undefined;
  const touched: string[] = [];
  for (const [id, sighting] of now.byId) {
    const known = before.byId.get(id);
    if (known === sighting) continue;
    if (!known?.isRead || !sighting.isRead || !isInPlace(known.object, sighting.object)) return undefined;
    touched.push(id);
  }
  return touched;
}

/** Those of the ids that have a slot in the range, with their place in it. */
function slotsOf(ids: readonly string[], range: readonly (Slot | null)[]): (readonly [slot: Slot, y: number])[] {
  return ids.flatMap((id) => {
    const index = range.findIndex((slot) => isPresent(slot) && slot.id === id);
    return index < 0 ? [] : [[range[index]!, index + 1] as const];
  });
}
