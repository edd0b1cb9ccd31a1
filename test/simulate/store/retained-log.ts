import type { CommittedTransaction, LogLine, Position } from "../checks/history.ts";

/** A line of the log, and the transaction that removed it: with its device, or by retention. */
export interface RetainedLine extends LogLine {
  readonly deviceId: number;
  /** The transaction that made it durable. */
  readonly seq: number;
  readonly removedSeq: number;
  /** Whether it was removed with its device. */
  readonly isOfRemoved: boolean;
}

/** All lines that the log ever held about devices, in log order. */
export function retainedLog(history: readonly CommittedTransaction[]): RetainedLine[] {
  const removals = new Map<number, number>();
  const horizons: { readonly seq: number; readonly position: Position }[] = [];
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table === "devices" && !after) removals.set(key as number, seq);
      if (table === "log horizon") horizons.push({ seq, position: after as unknown as Position });
    }
  }
  const lines = history.flatMap(({ seq, log }) =>
    log.flatMap((line): RetainedLine[] => {
      if (line.deviceId === null) return [];
      const removal = removals.get(line.deviceId) ?? Number.POSITIVE_INFINITY;
      // The removal itself writes one line, which stays.
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

/** Only clients that asked for things get the line. */
export function isOfThings({ kind }: LogLine): boolean {
  return kind === "thing" || kind === "thingCommand" || kind === "thingAlert";
}

export function compare(a: Position, b: Position): number {
  return a.transaction - b.transaction || a.id - b.id;
}
