import { rowFields } from "../store/stored-state.ts";
import type { CommittedTransaction, LinkStanding, LogLine } from "./history.ts";
import { demand } from "./violation.ts";

interface LoggedThing {
  readonly thingId: string;
  readonly what: "added" | "changed" | "state" | "gone";
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A thing as replayed from the log. */
interface ReplayedThing {
  isThere: boolean;
  readonly fields: Map<string, readonly [value: unknown, timeMs: number]>;
}

/** The things that a log entry changes. */
export function thingsIn({ kind, body }: LogLine): readonly LoggedThing[] {
  if (kind !== "attribute" && kind !== "thing") return [];
  return (JSON.parse(body) as { readonly things?: readonly LoggedThing[] }).things ?? [];
}

/** Whether the thing is derived from a device of the company's. */
export function isOwn({ thingId }: Pick<LoggedThing, "thingId">): boolean {
  return thingId.startsWith("t_own_");
}

/**
 * Replays the things from the log, and compares each written row with it: every field has the value and the time of the
 * entry that changed it last, an entry repeats a value only when the thing is back after it was gone, and a thing that is
 * gone says nothing.
 */
export function checkThings(history: readonly CommittedTransaction[]): void {
  const things = new Map<string, ReplayedThing>();
  for (const { seq, log, writes } of history) {
    for (const line of log) {
      // Own things have no rows: own-things/ checks them.
      for (const logged of thingsIn(line)) if (!isOwn(logged)) take(things, seq, line.timeMs, logged);
    }
    for (const { table, key, after } of writes) {
      if (!table.startsWith("things/")) continue;
      const thing = things.get(String(key));
      if (!after) {
        demand(thing?.isThere !== true, () => `transaction ${seq} removes thing ${key} and does not log it`);
        // Linked again, it begins anew.
        things.delete(String(key));
        continue;
      }
      const shown = JSON.stringify(rowFields(String(after.state)));
      const replayed = JSON.stringify([...(thing?.fields ?? [])].sort());
      demand(shown === replayed, () => `transaction ${seq}: thing ${key} is stored as ${shown}, logged as ${replayed}`);
      demand(
        (after.goneMs === null) === (thing?.isThere ?? false),
        () => `transaction ${seq}: thing ${key} is gone in the store or in the log, not in both`,
      );
    }
  }
}

/** The first difference between the home and its things: each device and structure is a thing, and no other is there. */
export function wrongThing({ home, things }: Pick<LinkStanding, "home" | "things">): string | undefined {
  const expected = new Map<string, Readonly<Record<string, unknown>>>([
    ...[...home.alarms].map(([id, { smokeAlarmState, coAlarmState }]) => {
      return [`alarm/${id}`, { "smoke.word": smokeAlarmState, "carbonMonoxide.word": coAlarmState }] as const;
    }),
    ...[...home.thermostats].map(([id, { fanTimerActive, isOnline }]) => {
      return [`thermostat/${id}`, { "fanTimer.active": fanTimerActive, "fanTimer.available": isOnline }] as const;
    }),
    ...[...home.structures].map(([id, { away }]) => [`structure/${id}`, { "presence.word": away }] as const),
  ]);
  for (const { key, goneMs, state } of things) {
    const fields = expected.get(key as string);
    expected.delete(key as string);
    if ((goneMs === null) !== (fields !== undefined)) return `thing ${key} is gone in the home or in the store`;
    const stored = new Map(rowFields(state as string));
    for (const [field, value] of goneMs === null ? Object.entries(fields ?? {}) : []) {
      const [shown] = stored.get(field) as readonly unknown[];
      if (shown !== value) return `${field} of thing ${key} is ${shown}, the home says ${value}`;
    }
  }
  const [missing] = expected.keys();
  return missing === undefined ? undefined : `thing ${missing} is not stored`;
}

function take(things: Map<string, ReplayedThing>, seq: number, timeMs: number, logged: LoggedThing): void {
  const { thingId, what, fields = {} } = logged;
  const thing = things.get(thingId) ?? { isThere: false, fields: new Map() };
  things.set(thingId, thing);
  demand(
    thing.isThere === (what !== "added"),
    () => `transaction ${seq}: thing ${thingId} is ${what} while it is ${thing.isThere ? "there" : "not there"}`,
  );
  thing.isThere = what !== "gone";
  for (const [field, value] of Object.entries(fields)) {
    const before = thing.fields.get(field);
    demand(
      what === "added" || before === undefined || before[0] !== value,
      () => `transaction ${seq}: ${field} of thing ${thingId} changes to the value it has (${value})`,
    );
    thing.fields.set(field, [value, timeMs]);
  }
}
