/**
 * A position in the log. An id alone is not enough: PostgreSQL issues ids before transactions end, so a reader that
 * remembers only an id would miss entries of transactions that end later.
 */
export interface LogPosition {
  readonly transaction: number;
  readonly id: number;
}

export const logStart: LogPosition = { transaction: 0, id: 0 };

/** Negative when the first comes before the second. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.transaction - b.transaction || a.id - b.id;
}
