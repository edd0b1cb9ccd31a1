import type { LogPosition } from "../store/tables/log.ts";

/** How far a reader has come: past an entry of the log, or past the first so many of its changes. */
export interface EventPlace {
  readonly position: LogPosition;
  /** Undefined: all of it. */
  readonly told?: number | undefined;
}

/** The id of an event: what a client sends back to go on after it. The text means something to us alone. */
export function writeEventId({ position: { transaction, id }, told }: EventPlace): string {
  const numbers = told === undefined ? [transaction, id] : [transaction, id, told];
  return numbers.map((number) => number.toString(36)).join("-");
}

/** Undefined when it is no id of ours. */
export function readEventId(text: string): EventPlace | undefined {
  if (!/^[0-9a-z]{1,10}(-[0-9a-z]{1,10}){1,2}$/.test(text)) return undefined;
  const [transaction, id, told] = text.split("-").map((digits) => Number.parseInt(digits, 36)) as [
    number,
    number,
    number?,
  ];
  const place: EventPlace = { position: { transaction, id }, told };
  return writeEventId(place) === text ? place : undefined;
}

/** Where the log is to be read on: an entry that was told in part is read again. */
export function readFrom({ position, told }: EventPlace): LogPosition {
  return told === undefined ? position : { ...position, id: position.id - 1 };
}
