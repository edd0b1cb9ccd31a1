import type { LogEpoch } from "../store/tables/log-epoch.ts";
import { comparePositions, type LogPosition, logStart } from "../store/tables/log-position.ts";

/** A position from which a stream can resume: after an entry of the log, or after some of its changes. */
export interface ResumePoint {
  /** The name of the epoch that the position belongs to. */
  readonly epoch: string;
  readonly position: LogPosition;
  /** How many of the entry's changes were sent. Undefined means all. */
  readonly sentChanges?: number | undefined;
}

/** A parsed event id. Ids from before epochs existed have no epoch. */
export type ParsedEventId = Omit<ResumePoint, "epoch"> & { readonly epoch: string | undefined };

/** The id of an event, which a client sends back to resume after it. It is opaque to clients. */
export function writeEventId({ epoch, position, sentChanges }: ResumePoint): string {
  return `${epoch}.${writeNumbers({ position, sentChanges })}`;
}

/** Undefined when the text is not an event id. */
export function readEventId(text: string): ParsedEventId | undefined {
  const [, epoch, numbers] = /^(?:([0-9a-z]{1,16})\.)?([0-9a-z]{1,10}(?:-[0-9a-z]{1,10}){1,2})$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const [transaction, id, sentChanges] = numbers.split("-").map((digits) => Number.parseInt(digits, 36)) as [
    number,
    number,
    number?,
  ];
  const parsed: ParsedEventId = { epoch, position: { transaction, id }, sentChanges };
  return writeNumbers(parsed) === numbers ? parsed : undefined;
}

/** The position after which to read the log. An entry that was sent in part is read again. */
export function readFrom({ position, sentChanges }: Pick<ResumePoint, "position" | "sentChanges">): LogPosition {
  return sentChanges === undefined ? position : { ...position, id: position.id - 1 };
}

/** Facts of the store for judging a client's id. */
export interface KnownLog {
  readonly epoch: LogEpoch;
  readonly end: LogPosition;
  /** Whether the log has an entry at the id's position. */
  readonly isHeld: boolean;
}

/** The position in this store's log that an id stands for; undefined when the id belongs to another history. */
export function resumePointOf(sent: ParsedEventId, { epoch, end, isHeld }: KnownLog): ResumePoint | undefined {
  const isAt = (position: LogPosition) => comparePositions(sent.position, position) === 0;
  // An id without an epoch may be ahead of what was durable. It is safe if the log has an entry at exactly that
  // position, or at the log's start.
  const isSafe = isHeld || isAt(end) || isAt(logStart);
  const isOfThisLog = sent.epoch === undefined ? epoch.takesOldIds && isSafe : sent.epoch === epoch.name;
  if (!isOfThisLog) return undefined;
  // Entries after the end were removed with their device or user, so nothing between the end and the id is missing.
  if (comparePositions(sent.position, end) > 0) return { epoch: epoch.name, position: end };
  return { ...sent, epoch: epoch.name };
}

function writeNumbers({
  position: { transaction, id },
  sentChanges,
}: Pick<ResumePoint, "position" | "sentChanges">): string {
  const numbers = sentChanges === undefined ? [transaction, id] : [transaction, id, sentChanges];
  return numbers.map((number) => number.toString(36)).join("-");
}
