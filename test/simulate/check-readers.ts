import type { Frame, Position, ReaderRecord } from "./history.ts";
import { compare, type ToldLine } from "./told-log.ts";
import { demand, Violation } from "./violation.ts";

/** How far a reader has come: past a line of the log, or past so many of its changes. */
interface Place extends Position {
  readonly told: number;
}

interface Event extends Place {
  readonly line: ToldLine;
  readonly name: string;
  /** What its data must say. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A reader that goes on where it was, on whichever node, is told everything that happened, once and in the log's order.
 * What it misses without being told so is only what was removed meanwhile; and it is told so only for a reason.
 */
export function checkReaders(readers: readonly ReaderRecord[], log: readonly ToldLine[]): void {
  const firstSince = firstPositionsSince(log);
  for (const reader of readers) {
    for (const frame of reader.frames) demandBehindDurable(reader, frame, firstSince);
    const rest = readOn(reader, log);
    const missed = rest.find(({ line }) => line.removedSeq === Number.POSITIVE_INFINITY);
    demand(!missed, () => `a reader of user ${reader.userId} never heard of ${missed?.line.kind} ${missed?.line.body}`);
  }
}

/** The smallest position of all that became durable by that transaction or a later one. */
function firstPositionsSince(log: readonly ToldLine[]): (seq: number) => Position | undefined {
  const bySeq = log.toSorted((a, b) => b.seq - a.seq);
  let smallest: Position | undefined;
  const smallestFrom = bySeq.map(({ seq, position }) => {
    if (!smallest || compare(position, smallest) < 0) smallest = position;
    return { seq, position: smallest };
  });
  return (asked) => smallestFrom.findLast(({ seq }) => seq >= asked)?.position;
}

/** A place never runs ahead of what is durable: all that becomes durable after a frame stands behind the frame's place. */
function demandBehindDurable(
  { userId }: ReaderRecord,
  { id, name, seq }: Frame,
  firstSince: (seq: number) => Position | undefined,
): void {
  const first = firstSince(seq);
  demand(
    !first || compare(first, placeOf(id)) > 0,
    () => `a reader of user ${userId} was given ${name} ${id}, and ${JSON.stringify(first)} became durable afterwards`,
  );
}

/** What is missing until a reader has heard everything. */
export function readerBehind(readers: readonly ReaderRecord[], log: readonly ToldLine[]): string | undefined {
  for (const { userId, deviceIds, frames } of readers) {
    const last = frames.at(-1);
    const line = log.findLast((one) => one.userId === userId && isAsked(deviceIds, one));
    if (
      !last ||
      (line && line.removedSeq === Number.POSITIVE_INFINITY && compare(placeOf(last.id), line.position) < 0)
    ) {
      return `a reader of user ${userId} is at ${last?.id}`;
    }
  }
  return undefined;
}

function readOn({ userId, deviceIds, frames }: ReaderRecord, log: readonly ToldLine[]): readonly Event[] {
  const events = log.filter((line) => line.userId === userId && isAsked(deviceIds, line)).flatMap(eventsOf);
  const [opening, ...others] = frames;
  if (!opening) return [];
  const who = `a reader of user ${userId}`;
  demand(opening.name === "heartbeat", () => `${who} begins with ${opening.name}`);
  let at = placeOf(opening.id);
  let next = events.findIndex((event) => comparePlaces(event, at) > 0);
  if (next < 0) next = events.length;
  for (const frame of others) {
    const place = placeOf(frame.id);
    if (frame.name === "resync") demandReason(who, frame, at);
    const isOnTheSpot = frame.name === "heartbeat" || frame.name === "resync";
    demand(
      isOnTheSpot ? comparePlaces(place, at) >= 0 : comparePlaces(place, at) > 0,
      () => `${who} was at ${JSON.stringify(at)}, and is told ${frame.name} ${frame.id} (again or too late)`,
    );
    for (; next < events.length && comparePlaces(events[next]!, place) < 0; next++) pass(who, events[next]!, frame);
    const event = events[next];
    if (event && comparePlaces(event, place) === 0) {
      if (isOnTheSpot) pass(who, event, frame);
      else demandSame(who, event, frame);
      next += 1;
    } else if (!isOnTheSpot) throw new Violation(`${who} is told ${frame.name} ${frame.id}, which nothing stands for`);
    at = place;
  }
  return events.slice(next);
}

/** It was not told of this one before the frame: then it was removed by then, or the frame says that something is missing. */
function pass(who: string, { line, name, told }: Event, { seq, name: said, id }: Frame): void {
  demand(
    said === "resync" || line.removedSeq <= seq,
    () =>
      `${who} was not told of ${name} ${JSON.stringify(line.position)} (${told}) before ${said} ${id}: ${line.body}`,
  );
}

function demandReason(who: string, { data, horizon, wasSlow, id }: Frame, at: Place): void {
  const { reason } = JSON.parse(data) as { reason: string };
  const isAllowed = (reason === "past_retention" && compare(at, horizon) <= 0) || (reason === "too_slow" && wasSlow);
  demand(isAllowed, () => `${who} at ${JSON.stringify(at)} has to begin anew (${reason} ${id}) without need`);
}

function demandSame(who: string, { name, data }: Event, frame: Frame): void {
  const said = JSON.parse(frame.data) as Record<string, unknown>;
  const isSame = Object.entries(data).every(([field, value]) => String(said[field]) === String(value));
  demand(
    frame.name === name && isSame,
    () => `${who} is told ${frame.name} ${frame.data}; what happened is ${name} ${JSON.stringify(data)}`,
  );
}

function eventsOf(line: ToldLine): readonly Event[] {
  const { deviceId, kind, timeMs, position } = line;
  const one = (told: number, name: string, data: object): Event => {
    return { ...position, told, line, name, data: { deviceId, ...data } };
  };
  if (kind !== "attribute") return [one(Number.POSITIVE_INFINITY, kind, { time: timeMs })];
  const { changes } = JSON.parse(line.body) as { changes: readonly [string | number, string | null][] };
  return changes.map(([, value], index) => {
    const told = index + 1 < changes.length ? index + 1 : Number.POSITIVE_INFINITY;
    return one(told, "attribute", { value, updateTime: timeMs });
  });
}

function isAsked(deviceIds: readonly number[], { deviceId }: ToldLine): boolean {
  return deviceIds.length === 0 || deviceIds.includes(deviceId);
}

/** An epoch, and behind it two or three numbers to the base of 36. */
function placeOf(id: string): Place {
  const [transaction, entry, told] = id
    .slice(id.indexOf(".") + 1)
    .split("-")
    .map((digits) => Number.parseInt(digits, 36));
  return { transaction: transaction!, id: entry!, told: told ?? Number.POSITIVE_INFINITY };
}

function comparePlaces(a: Place, b: Place): number {
  return compare(a, b) || (a.told === b.told ? 0 : a.told - b.told);
}
