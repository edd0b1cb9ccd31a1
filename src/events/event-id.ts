import { comparePositions, type LogPosition, logStart } from "../store/tables/log.ts";
import type { LogEpoch } from "../store/tables/log-epoch.ts";

/** How far a reader has come: past an entry of the log, or past the first so many of its changes. */
export interface EventPlace {
  /** The name of the epoch that the position belongs to. */
  readonly epoch: string;
  readonly position: LogPosition;
  /** How many of the entry's changes were sent. Undefined: all of them. */
  readonly told?: number | undefined;
}

/** An event id as a client sent it. Ids from before epochs existed have none. */
export type SentPlace = Omit<EventPlace, "epoch"> & { readonly epoch: string | undefined };

/** The id of an event: what a client sends back to continue after it. Its text is opaque to clients. */
export function writeEventId({ epoch, position, told }: EventPlace): string {
  return `${epoch}.${writeNumbers({ position, told })}`;
}

/** Undefined when the text is not an event id. */
export function readEventId(text: string): SentPlace | undefined {
  const [, epoch, numbers] = /^(?:([0-9a-z]{1,16})\.)?([0-9a-z]{1,10}(?:-[0-9a-z]{1,10}){1,2})$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const [transaction, id, told] = numbers.split("-").map((digits) => Number.parseInt(digits, 36)) as [
    number,
    number,
    number?,
  ];
  const place: SentPlace = { epoch, position: { transaction, id }, told };
  return writeNumbers(place) === numbers ? place : undefined;
}

/** Where to read the log on. An entry that was sent in part is read again. */
export function readFrom({ position, told }: Pick<EventPlace, "position" | "told">): LogPosition {
  return told === undefined ? position : { ...position, id: position.id - 1 };
}

/** What a store says about ids that clients bring. */
export interface KnownLog {
  readonly epoch: LogEpoch;
  readonly end: LogPosition;
  /** Whether an entry stands at the id's position. */
  readonly isHeld: boolean;
}

/** The place in this store's log that an id means; undefined when the id belongs to another history. */
export function resumedPlace(sent: SentPlace, { epoch, end, isHeld }: KnownLog): EventPlace | undefined {
  const isAt = (position: LogPosition) => comparePositions(sent.position, position) === 0;
  // Ids without an epoch may have run ahead of what was durable. An entry at exactly that position proves the contrary,
  // and behind the log's start nothing is missing.
  const isSafe = isHeld || isAt(end) || isAt(logStart);
  const isOurs = sent.epoch === undefined ? epoch.takesOldIds && isSafe : sent.epoch === epoch.name;
  if (!isOurs) return undefined;
  // The entries behind the end were removed with their device or user. Nothing between the end and the id is missing.
  if (comparePositions(sent.position, end) > 0) return { epoch: epoch.name, position: end };
  return { ...sent, epoch: epoch.name };
}

function writeNumbers({ position: { transaction, id }, told }: Pick<EventPlace, "position" | "told">): string {
  const numbers = told === undefined ? [transaction, id] : [transaction, id, told];
  return numbers.map((number) => number.toString(36)).join("-");
}
