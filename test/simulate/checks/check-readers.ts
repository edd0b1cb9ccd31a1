import { compare, isOfThings, type RetainedLine } from "../store/retained-log.ts";
import type { Frame, Position, ReaderRecord } from "./history.ts";
import { demand, Violation } from "./violation.ts";

/** A reader's position: after a line of the log, or after some of the changes of a line. */
interface ReadPosition extends Position {
  readonly changesRead: number;
}

interface Event extends ReadPosition {
  readonly line: RetainedLine;
  readonly name: string;
  /** The expected data of the event. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A reader that resumes on any node gets every event, once and in the order of the log. It may miss only events that
 * were removed in the meantime; and it gets a `resync` only for a valid reason.
 */
export function checkReaders(readers: readonly ReaderRecord[], log: readonly RetainedLine[]): void {
  const firstSince = firstPositionsSince(log);
  for (const reader of readers) {
    for (const frame of reader.frames) demandBehindDurable(reader, frame, firstSince);
    const rest = readOn(reader, log);
    const missed = rest.find(({ line }) => line.removedSeq === Number.POSITIVE_INFINITY);
    demand(!missed, () => `a reader of user ${reader.userId} never received ${missed?.line.kind} ${missed?.line.body}`);
  }
}

/** The smallest position among entries that became durable by that transaction or a later one. */
function firstPositionsSince(log: readonly RetainedLine[]): (seq: number) => Position | undefined {
  const bySeq = log.toSorted((a, b) => b.seq - a.seq);
  let smallest: Position | undefined;
  const smallestFrom = bySeq.map(({ seq, position }) => {
    if (!smallest || compare(position, smallest) < 0) smallest = position;
    return { seq, position: smallest };
  });
  return (fromSeq) => smallestFrom.findLast(({ seq }) => seq >= fromSeq)?.position;
}

/** A position never runs ahead of durable entries: entries that become durable after a frame come after its position. */
function demandBehindDurable(
  { userId }: ReaderRecord,
  { id, name, seq }: Frame,
  firstSince: (seq: number) => Position | undefined,
): void {
  const first = firstSince(seq);
  demand(
    !first || compare(first, positionOf(id)) > 0,
    () => `a reader of user ${userId} was given ${name} ${id}, and ${JSON.stringify(first)} became durable afterwards`,
  );
}

/** The first reader that has not received everything yet. */
export function readerBehind(readers: readonly ReaderRecord[], log: readonly RetainedLine[]): string | undefined {
  for (const { userId, deviceIds, frames } of readers) {
    const last = frames.at(-1);
    const line = log.findLast((one) => one.userId === userId && isSelected(deviceIds, one));
    if (
      !last ||
      (line && line.removedSeq === Number.POSITIVE_INFINITY && compare(positionOf(last.id), line.position) < 0)
    ) {
      return `a reader of user ${userId} is at ${last?.id}`;
    }
  }
  return undefined;
}

function readOn({ userId, deviceIds, frames }: ReaderRecord, log: readonly RetainedLine[]): readonly Event[] {
  const events = log.filter((line) => line.userId === userId && isSelected(deviceIds, line)).flatMap(eventsOf);
  const [opening, ...others] = frames;
  if (!opening) return [];
  const who = `a reader of user ${userId}`;
  demand(opening.name === "heartbeat", () => `${who} begins with ${opening.name}`);
  let at = positionOf(opening.id);
  let next = events.findIndex((event) => comparePositions(event, at) > 0);
  if (next < 0) next = events.length;
  for (const frame of others) {
    const position = positionOf(frame.id);
    if (frame.name === "resync") demandReason(who, frame, at);
    const isExact = frame.name === "heartbeat" || frame.name === "resync";
    demand(
      isExact ? comparePositions(position, at) >= 0 : comparePositions(position, at) > 0,
      () => `${who} was at ${JSON.stringify(at)}, and gets ${frame.name} ${frame.id} (again or too late)`,
    );
    for (; next < events.length && comparePositions(events[next]!, position) < 0; next++)
      pass(who, events[next]!, frame);
    const event = events[next];
    if (event && comparePositions(event, position) === 0) {
      if (isExact) pass(who, event, frame);
      else demandSame(who, event, frame);
      next += 1;
    } else if (!isExact) throw new Violation(`${who} got ${frame.name} ${frame.id}, which belongs to no log entry`);
    at = position;
  }
  return events.slice(next);
}

/** The reader skipped this event: it must have been removed by then, or the frame must be a `resync`. */
function pass(who: string, { line, name, changesRead }: Event, { seq, name: frameName, id }: Frame): void {
  demand(
    frameName === "resync" || line.removedSeq <= seq,
    () =>
      `${who} missed ${name} ${JSON.stringify(line.position)} (${changesRead}) before ${frameName} ${id}: ${line.body}`,
  );
}

function demandReason(who: string, { data, horizon, wasSlow, id }: Frame, at: ReadPosition): void {
  const { reason } = JSON.parse(data) as { reason: string };
  const isAllowed = (reason === "past_retention" && compare(at, horizon) <= 0) || (reason === "too_slow" && wasSlow);
  demand(isAllowed, () => `${who} at ${JSON.stringify(at)} got a resync (${reason} ${id}) without a reason`);
}

function demandSame(who: string, { name, data }: Event, frame: Frame): void {
  const received = JSON.parse(frame.data) as Record<string, unknown>;
  const isSame = Object.entries(data).every(([field, value]) => String(received[field]) === String(value));
  demand(
    frame.name === name && isSame,
    () => `${who} got ${frame.name} ${frame.data}; what happened is ${name} ${JSON.stringify(data)}`,
  );
}

function eventsOf(line: RetainedLine): readonly Event[] {
  const { deviceId, kind, timeMs, position } = line;
  const one = (changesRead: number, name: string, data: object): Event => {
    return { ...position, changesRead, line, name, data: { deviceId, ...data } };
  };
  // These readers did not ask for things.
  if (isOfThings(line)) return [];
  if (kind !== "attribute") return [one(Number.POSITIVE_INFINITY, kind, { time: timeMs })];
  const { changes } = JSON.parse(line.body) as { changes: readonly [string | number, string | null][] };
  return changes.map(([, value], index) => {
    const changesRead = index + 1 < changes.length ? index + 1 : Number.POSITIVE_INFINITY;
    return one(changesRead, "attribute", { value, updateTime: timeMs });
  });
}

function isSelected(deviceIds: readonly number[], { deviceId }: RetainedLine): boolean {
  return deviceIds.length === 0 || deviceIds.includes(deviceId);
}

/** Parses an event id: an epoch, then two or three numbers in base 36. */
function positionOf(id: string): ReadPosition {
  const [transaction, entry, changesRead] = id
    .slice(id.indexOf(".") + 1)
    .split("-")
    .map((digits) => Number.parseInt(digits, 36));
  return { transaction: transaction!, id: entry!, changesRead: changesRead ?? Number.POSITIVE_INFINITY };
}

function comparePositions(a: ReadPosition, b: ReadPosition): number {
  return compare(a, b) || (a.changesRead === b.changesRead ? 0 : a.changesRead - b.changesRead);
}
