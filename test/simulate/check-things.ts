import type { CommittedTransaction, LogLine } from "./history.ts";
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

/**
 * Replays the things from the log, and compares each written row with it: every field has the value and the time of the
 * entry that changed it last, an entry repeats a value only when the thing is back after it was gone, and a thing that is
 * gone says nothing.
 */
export function checkThings(history: readonly CommittedTransaction[]): void {
  const things = new Map<string, ReplayedThing>();
  for (const { seq, log, writes } of history) {
    for (const line of log) {
      for (const logged of thingsIn(line)) take(things, seq, line.timeMs, logged);
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

function rowFields(state: string): readonly (readonly [field: string, timed: unknown])[] {
  const traits = JSON.parse(state) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const fields = Object.entries(traits).flatMap(([trait, timed]) =>
    Object.entries(timed).map(([field, one]) => [`${trait}.${field}`, one] as const),
  );
  return fields.sort();
}
