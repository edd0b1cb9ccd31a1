import type { ThingWrite } from "../devices/thing-writes.ts";
import type { Home } from "../home/home.ts";
import {
  groupIn,
  idIn,
  reportedThings,
  type ThingGroup,
  type ThingReport,
  thingGroups,
  thingKey,
  visitThings,
} from "../home/reported-things.ts";
import type { Thing } from "../home/thing.ts";
import { printOf, sampleDifference, type ThingPrint } from "../home/thing-print.ts";
import type { UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { ThingMarkRow } from "../store/tables/things.ts";
import type { LinkKey } from "./link-key.ts";

export interface ThingMark extends ThingPrint {
  readonly thingId: string;
  readonly isGone: boolean;
}

type MarksOfGroup = ReadonlyMap<string, ThingMark>;

/**
 * What a link's owner remembers of each stored thing. Each snapshot looks up all things, so they are kept by group and
 * id: to build the key of each thing would take longer than the look-up.
 */
export class ThingMarks {
  readonly #groups: Readonly<Record<ThingGroup, MarksOfGroup>>;
  readonly size: number;
  /** How many of these things are gone. */
  readonly goneCount: number;

  constructor(groups: Partial<Record<ThingGroup, MarksOfGroup>> = {}, goneCount = 0) {
    this.#groups = { alarm: noMarks, structure: noMarks, thermostat: noMarks, other: noMarks, ...groups };
    this.size = thingGroups.reduce((sum, group) => sum + this.#groups[group].size, 0);
    this.goneCount = goneCount;
  }

  find(group: ThingGroup, id: string): ThingMark | undefined {
    return this.#groups[group].get(id);
  }

  /** All marks with the keys of their things. */
  *[Symbol.iterator](): Iterator<readonly [key: string, mark: ThingMark]> {
    for (const group of thingGroups) for (const [id, mark] of this.#groups[group]) yield [thingKey(group, id), mark];
  }

  with(changed: Iterable<ChangedMark>): ThingMarks {
    const next: Partial<Record<ThingGroup, Map<string, ThingMark>>> = {};
    let { goneCount } = this;
    for (const [group, id, mark] of changed) {
      next[group] ??= new Map(this.#groups[group]);
      goneCount += Number(mark.isGone) - Number(next[group].get(id)?.isGone ?? false);
      next[group].set(id, mark);
    }
    return new ThingMarks({ ...this.#groups, ...next }, goneCount).#withoutSurplus();
  }

  #withoutSurplus(): ThingMarks {
    let surplus = this.size - limits.thingsPerLink - goneMarksKept;
    if (surplus <= 0) return this;
    const goneCount = Math.max(0, this.goneCount - surplus);
    const kept = thingGroups.map((group) => {
      const marks = [...this.#groups[group]].filter(([, { isGone }]) => !(isGone && surplus-- > 0));
      return [group, new Map(marks)] as const;
    });
    return new ThingMarks(Object.fromEntries(kept), goneCount);
  }
}

type ChangedMark = readonly [group: ThingGroup, id: string, mark: ThingMark];

/** A gone thing whose mark is forgotten is recognised by its id when it is back. */
const goneMarksKept = 500;

const noMarks: MarksOfGroup = new Map();

export const noThingMarks = new ThingMarks();

/** The id of a thing: the same after relinking, and after unlinking and linking again. */
export type ThingIdOf = (userId: UserId, ecosystem: string, key: string) => string;

type IsKept = (key: string) => boolean;

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

/**
 * Compares a snapshot with the stored things. `previous`: the snapshot that the marks were made from. A thing that is the
 * same object in both has not changed.
 */
export function thingUpdate(
  home: Home,
  marks: ThingMarks,
  { userId, ecosystem }: Pick<LinkKey, "userId" | "ecosystem">,
  thingIdOf: ThingIdOf,
  previous?: Home,
): ThingUpdate {
  const writes: ThingWrite[] = [];
  const changed: ChangedMark[] = [];
  const isKept = keptWithinLimit(home, marks);
  let weight: Weight = "nothing";
  let isUrgent = false;
  let shown = 0;
  const isUnchanged = isKept || !previous ? undefined : unchangedThings(home, previous);
  visitThings(home, (group, id, thing, homeName) => {
    const mark = marks.find(group, id);
    // A thing beyond the limit may be the same as before, and is not stored.
    if (mark && !mark.isGone && isUnchanged?.(group, id, thing)) {
      shown += 1;
      return;
    }
    if (isKept && !isKept(thingKey(group, id))) return;
    if (mark && !mark.isGone) shown += 1;
    const print = printOf({ thing, homeName });
    const difference = mark && !mark.isGone ? differenceOf(mark, print) : "change";
    if (difference === "nothing") return;
    if (weights.indexOf(difference) > weights.indexOf(weight)) weight = difference;
    if (print.danger !== (mark?.danger ?? "")) isUrgent = true;
    const key = thingKey(group, id);
    const thingId = mark?.thingId ?? thingIdOf(userId, ecosystem, key);
    writes.push({ thingId, source: ecosystem, reported: { key, thing, homeName }, print });
    changed.push([group, id, { ...print, thingId, isGone: false }]);
  });
  // Most snapshots show all stored things.
  for (const [key, mark] of shown < marks.size - marks.goneCount ? goneOf(reportedThings(home), marks, isKept) : []) {
    weight = "change";
    if (mark.danger) isUrgent = true;
    writes.push({ thingId: mark.thingId, isGone: true });
    changed.push([groupIn(key)!, idIn(key), { ...mark, isGone: true }]);
  }
  return { writes, marks: changed.length > 0 ? marks.with(changed) : marks, weight, isUrgent };
}

type IsUnchanged = (group: ThingGroup, id: string, thing: Thing) => boolean;

/** Recognises things that are the same objects in both snapshots. Undefined when that proves nothing. */
function unchangedThings(home: Home, previous: Home): IsUnchanged | undefined {
  if (countThings(previous) > limits.thingsPerLink) return undefined;
  if (!sameNames(home.structures, previous.structures)) return undefined;
  const listings = { alarm: previous.alarms, thermostat: previous.thermostats, other: previous.others };
  return (group, id, thing) => {
    const reading = group === "structure" ? undefined : listings[group]?.byId.get(id);
    return reading?.isRead === true && reading.object === thing;
  };
}

function sameNames(structures: Home["structures"], previous: Home["structures"]): boolean {
  if (structures === previous) return true;
  const nameIn = ({ byId }: Home["structures"], id: string) => {
    const reading = byId.get(id);
    return reading?.isRead ? reading.object.name : reading?.partial.name;
  };
  return [...structures.byId.keys()].every((id) => nameIn(structures, id) === nameIn(previous, id));
}

/**
 * The stored things that the snapshot does not name, though it lists everything where they could be, and those beyond the
 * limit: their stored values would never change again.
 */
function goneOf(
  report: ThingReport,
  marks: ThingMarks,
  isKept: IsKept | undefined,
): readonly (readonly [key: string, mark: ThingMark])[] {
  let read: Set<string> | undefined;
  let unread: Set<string> | undefined;
  return [...marks].filter(([key, mark]) => {
    if (mark.isGone) return false;
    if (isKept && !isKept(key)) return true;
    read ??= new Set(report.read.map((one) => one.key));
    if (read.has(key)) return false;
    unread ??= new Set(report.unread);
    return report.isGoneUnlessNamed(key) && !unread.has(key);
  });
}

export function marksOf(rows: readonly ThingMarkRow[]): ThingMarks {
  return noThingMarks.with(
    rows.flatMap(({ thingId, key, print, samples, goneMs }) => {
      const group = groupIn(key);
      const mark = { thingId, hash: print, samples: JSON.parse(samples), danger: undefined, isGone: goneMs !== null };
      return group === undefined ? [] : [[group, idIn(key), mark] as const];
    }),
  );
}

function differenceOf(mark: ThingMark, print: ThingPrint): Weight {
  if (mark.hash !== print.hash) return "change";
  const difference = sampleDifference(mark, print);
  if (difference === "none") return "nothing";
  return difference === "small" ? "samples" : "jump";
}

/**
 * Which things of a home with too many are kept: alarms first, then things that are stored already, so that the home
 * keeps the same ones. Stored things that the snapshot neither shows nor proves gone count too: a home could list others
 * each time, and never all of them. Undefined: all are kept.
 */
function keptWithinLimit(home: Home, marks: ThingMarks): IsKept | undefined {
  const count = countThings(home);
  const storedCount = marks.size - marks.goneCount;
  if (count <= limits.thingsPerLink && (isWholeHome(home) || count + storedCount <= limits.thingsPerLink))
    return undefined;
  const stored = new Set([...marks].filter(([, { isGone }]) => !isGone).map(([key]) => key));
  const { read, unread, isGoneUnlessNamed } = reportedThings(home);
  const named = new Set(unread);
  const keys = new Set(read.map(({ key }) => key));
  for (const key of stored) if (named.has(key) || !isGoneUnlessNamed(key)) keys.add(key);
  if (keys.size <= limits.thingsPerLink) return undefined;
  const rank = (key: string) => (groupIn(key) === "alarm" ? 0 : stored.has(key) ? 1 : 2);
  const sorted = [...keys].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const kept = new Set(sorted.slice(0, limits.thingsPerLink));
  return (key) => kept.has(key);
}

/** Whether the home shows all its things: then a stored thing is shown or gone. */
function isWholeHome({ structures, thermostats, alarms, others, oddities }: Home): boolean {
  const listings = [structures, thermostats, alarms, ...(others ? [others] : [])];
  return oddities.incomplete === 0 && listings.every(({ isWhole }) => isWhole);
}

function countThings({ structures, thermostats, alarms, others }: Home): number {
  return structures.byId.size + thermostats.byId.size + alarms.byId.size + (others?.byId.size ?? 0);
}
