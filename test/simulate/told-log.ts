import type { CommittedTransaction, LogLine, Position } from "./history.ts";

/** A line of the log, and by which transaction it was taken out again: those of a removed device, and old ones. */
export interface ToldLine extends LogLine {
  readonly deviceId: number;
  /** By which transaction it became durable. */
  readonly seq: number;
  readonly removedSeq: number;
  /** It went with its device. */
  readonly isOfRemoved: boolean;
}

/** What the log told and tells about devices, in its own order. */
export function toldLog(history: readonly CommittedTransaction[]): ToldLine[] {
  const removals = new Map<number, number>();
  const horizons: { readonly seq: number; readonly position: Position }[] = [];
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table === "devices" && !after) removals.set(key as number, seq);
      if (table === "log horizon") horizons.push({ seq, position: after as unknown as Position });
    }
  }
  const lines = history.flatMap(({ seq, log }) =>
    log.flatMap((line): ToldLine[] => {
      if (line.deviceId === null) return [];
      const removal = removals.get(line.deviceId) ?? Number.POSITIVE_INFINITY;
      // The one line that says so is written by the removal itself, and stays.
      const removedSeq = removal > seq ? removal : Number.POSITIVE_INFINITY;
      const aged = horizons.find(({ position }) => compare(line.position, position) <= 0)?.seq;
      const isOfRemoved = removedSeq < Number.POSITIVE_INFINITY;
      return [
        { ...line, seq, deviceId: line.deviceId, isOfRemoved, removedSeq: Math.min(removedSeq, aged ?? removedSeq) },
      ];
    }),
  );
  return lines.sort((a, b) => compare(a.position, b.position));
}

export function compare(a: Position, b: Position): number {
  return a.transaction - b.transaction || a.id - b.id;
}
