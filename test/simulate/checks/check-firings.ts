import { alarmInSlot, parseStoredMap } from "./expected-device.ts";
import type { Arrival, LinkStanding, Receipt, RunRecord, StoredRow, ThingWatch, Watch } from "./history.ts";
import { demand } from "./violation.ts";

type Accounts = Pick<RunRecord, "standings" | "triggers" | "receipts" | "arrivals">;

/**
 * Counts firings independently: an alert on an alarm fires at least as often as the live owner saw that alarm become an
 * emergency, and at most as often as it did in all accounts that reached any node.
 */
export function checkFirings(watches: readonly Watch[], accounts: Accounts): void {
  for (const watch of watches) {
    const found = stillThere(watch, accounts);
    const place = found && alarmInSlot(parseStoredMap(found.link.indexMap as string), watch.x, watch.y);
    if (!place || found.trigger.reason !== null) continue;
    // An alarm that names no structure of the home may have an index here or not; both are right.
    const stateIn = (areStraysHere: boolean) => (home: SeenHome) => {
      const alarm = home.alarms.get(place.alarm);
      const isStray = alarm && (alarm.structureId === null || !home.structures.has(alarm.structureId));
      const isHere = alarm?.structureId === place.structure || (isStray && areStraysHere);
      return isHere && home.structures.has(place.structure) ? alarm![`${watch.sensor}AlarmState`] : null;
    };
    demandCount(watch, found.trigger, accounts, [stateIn(true), stateIn(false)]);
  }
}

/** The same for alerts on things. An alarm that is gone has no state, and its next emergency counts again. */
export function checkThingFirings(watches: readonly ThingWatch[], accounts: Accounts): void {
  for (const watch of watches) {
    const found = stillThere(watch, accounts);
    if (!found) continue;
    const stateIn = (home: SeenHome) => home.alarms.get(watch.alarm)?.[`${watch.sensor}AlarmState`] ?? null;
    demandCount(watch, found.trigger, accounts, [stateIn]);
  }
}

type SeenHome = Pick<Receipt["home"], "alarms" | "structures">;

/** The link and the alert, unless the user was unlinked since. */
function stillThere(
  { id, userId, deviceId }: Watch | ThingWatch,
  { standings, triggers }: Accounts,
): { readonly link: NonNullable<LinkStanding["link"]>; readonly trigger: StoredRow } | undefined {
  const { link } = standings.find((standing) => standing.userId === userId)!;
  const trigger = triggers.find((one) => one.id === id);
  return link?.deviceId === deviceId && trigger ? { link, trigger } : undefined;
}

/** `readings`: how the state may be read from a home; the count must lie within the bounds of all of them. */
function demandCount(
  watch: Watch | ThingWatch,
  trigger: StoredRow,
  { receipts, arrivals }: Accounts,
  readings: readonly ((home: SeenHome) => string | null)[],
): void {
  const { id, userId, seq: sinceSeq } = watch;
  const seen = receipts.filter((one) => one.userId === userId && one.seq > sinceSeq);
  const all = arrivals.filter((one: Arrival) => one.userId === userId);
  const least = readings.map((stateIn) => {
    const [first, ...later] = seen.map(({ home }) => stateIn(home));
    return emergencies(later, first ?? null);
  });
  const most = readings.map((stateIn) => {
    const states = all.map(stateIn);
    // An alarm that an account names without its state keeps its last state, also when it moves into the slot.
    const moves = states.filter((state, index) => state !== null && (states[index - 1] ?? null) === null).length;
    return emergencies(states, null) + ("x" in watch ? moves : 0);
  });
  const firings = trigger.firings as number;
  demand(
    firings >= Math.min(...least) && firings <= Math.max(...most),
    () =>
      `alert ${id} fired ${firings} times; its owner saw ${Math.min(...least)} emergencies begin, and ${Math.max(...most)} reached any node`,
  );
}

function emergencies(states: readonly (string | null)[], before: string | null): number {
  let count = 0;
  let last = before;
  for (const state of states) {
    if (state === "emergency" && last !== "emergency") count += 1;
    last = state;
  }
  return count;
}
