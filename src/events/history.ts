import type { AttributeBody } from "../devices/log-entries.ts";
import { shownValue } from "../devices/shown-attribute.ts";
import type { Cause } from "../model/cause.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { TimeStretch } from "../store/tables/log.ts";
import { namesFor } from "./asked-names.ts";

export interface HistoryQuestion extends TimeStretch {
  /** In any published spelling; none means all. */
  readonly attributes: readonly string[];
}

export interface PastChange {
  readonly name: string;
  readonly value: string | number | null;
  readonly updateTimeMs: number;
  readonly cause: Cause;
}

export interface HistoryPage {
  readonly changes: readonly PastChange[];
  /** From when the next page goes on; undefined when this is the last. */
  readonly nextFromMs: number | undefined;
}

/** A page ends after the commit that fills it, or after so many commits that had nothing of what was asked for. */
export const historyLimits = { changes: 1_000, commits: 2_000 };

/** What was committed to a device in that stretch of time, as far as the log still has it. */
export async function historyOf(
  store: Store<Pick<Transaction, "log">>,
  userId: UserId,
  deviceId: DeviceId,
  { attributes, fromMs, toMs }: HistoryQuestion,
): Promise<HistoryPage> {
  const commits = await store.read((tx) => tx.log.changes(userId, deviceId, { fromMs, toMs }, historyLimits.commits));
  const nameFor = namesFor(attributes);
  const changes: PastChange[] = [];
  for (const [i, { timeMs, body }] of commits.entries()) {
    const { cause, changes: changed } = JSON.parse(body) as AttributeBody;
    for (const [key, value] of changed) {
      const name = nameFor(key);
      if (name !== undefined) changes.push({ name, value: shownValue(key, value), updateTimeMs: timeMs, cause });
    }
    // Each commit to a device has a time of its own, so a page can end behind any of them.
    const mayBeMore = i < commits.length - 1 || commits.length === historyLimits.commits;
    const isFull = changes.length >= historyLimits.changes || i === historyLimits.commits - 1;
    if (isFull && mayBeMore) return { changes, nextFromMs: timeMs + 1 };
  }
  return { changes, nextFromMs: undefined };
}
