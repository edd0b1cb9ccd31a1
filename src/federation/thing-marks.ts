import type { ThingWrite } from "../devices/thing-writes.ts";
import type { Home } from "../home/home.ts";
import { type ReportedThing, reportedThings, type ThingReport } from "../home/reported-things.ts";
import { printOf, sampleDifference, type ThingPrint } from "../home/thing-print.ts";
import type { UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { ThingMarkRow } from "../store/tables/things.ts";
import type { LinkKey } from "./link-key.ts";

/** What a link's owner remembers of each stored thing, by its key. */
export type ThingMarks = ReadonlyMap<string, ThingMark>;

export interface ThingMark extends ThingPrint {
  readonly thingId: string;
  readonly isGone: boolean;
}

export const noThingMarks: ThingMarks = new Map();

/** The id of a thing: the same after relinking, and after unlinking and linking again. */
export type ThingIdOf = (userId: UserId, ecosystem: string, key: string) => string;

type Weight = "nothing" | "samples" | "jump" | "change";

const weights: readonly Weight[] = ["nothing", "samples", "jump", "change"];

export interface ThingUpdate {
  readonly writes: readonly ThingWrite[];
  /** The marks after the writes are committed. */
  readonly marks: ThingMarks;
  /**
   * `samples`: only samples differ, and little: they may wait for another commit. `jump`: only samples differ, but at
   * least one of them by so much that it is committed as soon as possible.
   */
  readonly weight: Weight;
  /** An alarm has started or stopped. */
  readonly isUrgent: boolean;
}

/** Compares a snapshot with the stored things. */
export function thingUpdate(
  home: Home,
  marks: ThingMarks,
  { userId, ecosystem }: Pick<LinkKey, "userId" | "ecosystem">,
  thingIdOf: ThingIdOf,
): ThingUpdate {
  const report = reportedThings(home);
  const read = withinLimit(report.read, marks);
  const writes: ThingWrite[] = [];
  const changed: [key: string, mark: ThingMark][] = [];
  let weight: Weight = "nothing";
  let isUrgent = false;
  let shown = 0;
  for (const reported of read) {
    const { key } = reported;
    const mark = marks.get(key);
    if (mark) shown += 1;
    const print = printOf(reported);
    const difference = mark && !mark.isGone ? differenceOf(mark, print) : "change";
    if (difference === "nothing") continue;
    if (weights.indexOf(difference) > weights.indexOf(weight)) weight = difference;
    if (print.danger !== (mark?.danger ?? "")) isUrgent = true;
    const thingId = mark?.thingId ?? thingIdOf(userId, ecosystem, key);
    writes.push({ thingId, source: ecosystem, reported, print });
    changed.push([key, { ...print, thingId, isGone: false }]);
  }
  // Most snapshots show all stored things.
  for (const [key, mark] of shown < marks.size ? goneOf(report, marks) : []) {
    weight = "change";
    if (mark.danger) isUrgent = true;
    writes.push({ thingId: mark.thingId, isGone: true });
    changed.push([key, { ...mark, isGone: true }]);
  }
  return { writes, marks: changed.length > 0 ? marksWith(marks, changed) : marks, weight, isUrgent };
}

/** A gone thing whose mark is forgotten is recognised by its id when it is back. */
const goneMarksKept = 500;

function marksWith(marks: ThingMarks, changed: readonly (readonly [key: string, mark: ThingMark])[]): ThingMarks {
  const next = new Map(marks);
  for (const [key, mark] of changed) next.set(key, mark);
  let surplus = next.size - limits.thingsPerLink - goneMarksKept;
  if (surplus <= 0) return next;
  for (const [key, { isGone }] of next) {
    if (isGone && surplus-- > 0) next.delete(key);
  }
  return next;
}

/** The stored things that the snapshot does not name, though it lists everything where they could be. */
function goneOf(report: ThingReport, marks: ThingMarks): readonly (readonly [key: string, mark: ThingMark])[] {
  let named: Set<string> | undefined;
  return [...marks].filter(([key, mark]) => {
    if (mark.isGone || !report.isGoneUnlessNamed(key)) return false;
    named ??= new Set([...report.unread, ...report.read.map((one) => one.key)]);
    return !named.has(key);
  });
}

export function marksOf(rows: readonly ThingMarkRow[]): ThingMarks {
  return new Map(
    rows.map(({ thingId, key, print, samples, goneMs }) => [
      key,
      { thingId, hash: print, samples: JSON.parse(samples), danger: undefined, isGone: goneMs !== null },
    ]),
  );
}

function differenceOf(mark: ThingMark, print: ThingPrint): Weight {
  if (mark.hash !== print.hash) return "change";
  const difference = sampleDifference(mark, print);
  if (difference === "none") return "nothing";
  return difference === "small" ? "samples" : "jump";
}

/** Alarms first, then things that are stored already: a home with too many things keeps the same ones. */
function withinLimit(read: readonly ReportedThing[], marks: ThingMarks): readonly ReportedThing[] {
  if (read.length <= limits.thingsPerLink) return read;
  const rank = ({ key, thing }: ReportedThing) => (thing.kind === "alarm" ? 0 : marks.has(key) ? 1 : 2);
  return [...read].sort((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1)).slice(0, limits.thingsPerLink);
}
