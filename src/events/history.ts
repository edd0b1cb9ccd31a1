import { readAttributeBody } from "../devices/log-entries.ts";
import { type PastCommitParts, pastCommits } from "../devices/past-commits.ts";
import { wireValue } from "../devices/wire-attribute.ts";
import type { Cause } from "../model/cause.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { LogEntry, TimeRange } from "../store/tables/log.ts";
import { namesFor } from "./attribute-filter.ts";

export interface HistoryQuery extends TimeRange {
  /** In any published spelling; an empty list means all. */
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
  /** Start of the next page; undefined on the last page. */
  readonly nextFromMs: number | undefined;
}

/** A page ends after the commit that fills it, or when this much of the log was read. */
export const historyLimits = { changes: 1_000, characters: 1_000_000, commits: 2_000, charactersRead: 4_000_000 };

/** Changes of a device in a time range, as far as the log still has them. */
export async function historyOf(
  parts: PastCommitParts,
  userId: UserId,
  deviceId: DeviceId,
  { attributes, fromMs, toMs }: HistoryQuery,
): Promise<HistoryPage> {
  const nameFor = namesFor(attributes);
  const changes: PastChange[] = [];
  let characters = 0;
  let commits = 0;
  let charactersRead = 0;
  let full: LogEntry | undefined;
  for await (const commit of pastCommits(parts, userId, deviceId, { fromMs, toMs })) {
    // Commits to one device have distinct times, so a page can end after any of them.
    if (full) return { changes, nextFromMs: full.timeMs + 1 };
    commits += 1;
    charactersRead += commit.body.length;
    const { cause, changes: changed } = readAttributeBody(commit);
    for (const [key, value] of changed) {
      const name = nameFor(key);
      if (name === undefined) continue;
      changes.push({ name, value: wireValue(key, value), updateTimeMs: commit.timeMs, cause });
      characters += name.length + (value?.length ?? 0);
    }
    const isFull =
      changes.length >= historyLimits.changes ||
      characters >= historyLimits.characters ||
      commits >= historyLimits.commits ||
      charactersRead >= historyLimits.charactersRead;
    if (isFull) full = commit;
  }
  return { changes, nextFromMs: undefined };
}
