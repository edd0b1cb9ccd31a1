import type { Store, Transaction } from "../store/seam.ts";
import type { TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { SharedFrames } from "./shared-frames.ts";

export type LogTables = Pick<Transaction, "log" | "logEpoch">;

interface LogRead {
  readonly epoch: string;
  /** Every entry of the log after the position that was asked for, oldest first, up to the limit of the read. */
  readonly entries: readonly TailedEntry[];
  /** Whether the log had no more entries. */
  readonly isLast: boolean;
  readonly end: LogPosition;
  readonly horizon: LogPosition;
}

/** What one read of the log has shown. Many streams may use the same page. */
export class LogPage {
  readonly read: LogRead;
  readonly frames = new SharedFrames();
  #byUser: Map<number | null, TailedEntry[]> | undefined;
  #byTenant: Map<number | null, TailedEntry[]> | undefined;

  constructor(read: LogRead) {
    this.read = read;
  }

  /** Whether this page, read after `from`, continues a stream that has come to `position`. */
  continues(position: LogPosition, from: LogPosition): boolean {
    if (comparePositions(position, from) < 0) return false;
    const { entries, isLast } = this.read;
    return isLast || comparePositions(position, entries.at(-1)!.position) < 0;
  }

  /** The entries within the scope. Thousands of streams ask the same page, each for few entries. */
  within(scope: EventScope): readonly TailedEntry[] {
    const { entries } = this.read;
    switch (scope.kind) {
      case "user":
        this.#byUser ??= Map.groupBy(entries, ({ userId }) => userId);
        return this.#byUser.get(scope.userId) ?? [];
      case "enterprise":
        this.#byTenant ??= Map.groupBy(entries, ({ tenantId }) => tenantId);
        return this.#byTenant.get(scope.tenantId) ?? [];
      case "operator":
        return entries.filter((entry) => isWithin(scope, entry));
    }
  }

  /** The first entry of any scope after the position. */
  next(after: LogPosition): TailedEntry | undefined {
    return this.read.entries.find(({ position }) => comparePositions(position, after) > 0);
  }

  /** How many entries of all scopes lie after the first position, up to the second. */
  count(after: LogPosition, to: LogPosition): number {
    const isBetween = ({ position }: TailedEntry) =>
      comparePositions(position, after) > 0 && comparePositions(position, to) <= 0;
    return this.read.entries.filter(isBetween).length;
  }
}

export async function readLogPage(store: Store<LogTables>, after: LogPosition, limit: number): Promise<LogPage> {
  const read = await store.read(async (tx) => {
    const [epoch, entries, end, horizon] = await Promise.all([
      tx.logEpoch.current(),
      tx.log.tail(after, limit),
      tx.log.end(),
      tx.log.horizon(),
    ]);
    return { epoch: epoch.name, entries, isLast: entries.length < limit, end, horizon };
  });
  return new LogPage(read);
}
