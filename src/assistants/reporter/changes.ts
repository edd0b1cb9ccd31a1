import { type LoggedThing, loggedThings, type ThingCommandBody } from "../../devices/log-entries.ts";
import { isUrgentThing } from "../../devices/urgent-things.ts";
import type { Cause } from "../../model/cause.ts";
import type { AlarmRise, MarkOfGrant } from "../../store/tables/assistant-marks.ts";
import type { TailedEntry } from "../../store/tables/log.ts";
import { hasOutcome } from "../commanding.ts";
import { allThings } from "../grants.ts";

/** What a log entry changes for the assistants of its user. */
export interface Changes {
  readonly marks: readonly MarkOfGrant[];
  /** Only for the outlet with this client; undefined: for all. */
  readonly clientId?: string | null;
}

/** A change that is not urgent waits this long for others. */
export const groupingMs = 1_000;
/** A thing that its ecosystem says is gone may come back: assistants delete it, with its room and routines, this late. */
export const removalMs = 15 * 60_000;
/** A log entry with more changed things than this gets one mark that covers all things of the user. */
const thingsPerEntry = 50;
/** The mark that has the freshness of the user's links compared with what was reported. */
export const freshnessOfLinks = "~";

const nothing: Changes = { marks: [] };

/** Pure: times are those of the store's clock. */
export function changesOf(entry: TailedEntry, nowMs: number): Changes {
  switch (entry.kind) {
    case "attribute":
    case "thing":
      return changesOfThings(entry, nowMs);
    case "link":
      return { marks: [{ thingId: freshnessOfLinks, stateMs: nowMs + groupingMs }] };
    case "thingCommand":
      return changesOfCommand(JSON.parse(entry.body) as ThingCommandBody, nowMs);
    default:
      return nothing;
  }
}

function changesOfThings(entry: TailedEntry, nowMs: number): Changes {
  const things = loggedThings(entry);
  if (things.length === 0) return nothing;
  const { cause } = JSON.parse(entry.body) as { readonly cause?: Cause };
  const marks = things.map((thing) => markOf(thing, cause, entry.timeMs, nowMs));
  if (things.length <= thingsPerEntry) return { marks };
  const isSync = things.some(({ what }) => what !== "state");
  const all = { thingId: allThings, stateMs: nowMs + groupingMs, ...(isSync && { syncMs: nowMs + groupingMs }) };
  return { marks: [all, ...marks.filter(({ isUrgent, isGone }) => isUrgent || isGone)] };
}

function markOf(thing: LoggedThing, cause: Cause | undefined, timeMs: number, nowMs: number): Changes["marks"][number] {
  const { thingId, what } = thing;
  const isUrgent = isUrgentThing(thing, cause);
  const stateMs = isUrgent ? nowMs : nowMs + groupingMs;
  if (what === "gone") {
    // Unlinked by its user or removed by its company: it does not come back by itself, and nothing is known of it.
    if (cause === undefined || cause.by === "administrator")
      return { thingId, sinceMs: timeMs, syncMs: nowMs + groupingMs, isGone: true };
    return { thingId, sinceMs: timeMs, stateMs, syncMs: nowMs + removalMs, isGone: true, isUrgent };
  }
  const isNew = what === "added" || what === "changed";
  return {
    thingId,
    // The assistant may have a part that the thing has no longer.
    sinceMs: what === "changed" ? 0 : timeMs,
    stateMs,
    // A new alarm is added to the list of devices before its state is told, so both are due at once.
    ...(isNew && { syncMs: stateMs }),
    isBack: what === "added",
    isUrgent,
    rises: risesIn(thing, timeMs),
  };
}

const alarmFields = { "smoke.state": "smoke", "carbonMonoxide.state": "carbonMonoxide" } as const;

/** An alarm that drops to a warning is reported as a state change, without a new notification. */
function risesIn({ fields = {}, eased = [] }: LoggedThing, timeMs: number): readonly AlarmRise[] {
  return Object.entries(alarmFields).flatMap(([field, trait]) => {
    const state = fields[field];
    if (eased.includes(field)) return [];
    return state === "warning" || state === "alarm" || state === "unknown" ? [{ trait, state, timeMs }] : [];
  });
}

/** The assistant that sent a command hears the state after it, also when the state is the same as before. */
function changesOfCommand({ thingId, state, clientId }: ThingCommandBody, nowMs: number): Changes {
  return hasOutcome({ state }) ? { marks: [{ thingId, stateMs: nowMs }], clientId } : nothing;
}
