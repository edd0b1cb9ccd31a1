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

export interface HistoryPage<Change = PastChange> {
  readonly changes: readonly Change[];
  /** Start of the next page; undefined on the last page. */
  readonly nextFromMs: number | undefined;
}

/** A page ends after the commit that fills it, or when this much of the log was read. */
export const historyLimits = { changes: 1_000, characters: 1_000_000, commits: 2_000, charactersRead: 4_000_000 };

/** Changes of a device in a time range, as far as the log still has them. */
export function historyOf(
  parts: PastCommitParts,
  userId: UserId,
  deviceId: DeviceId,
  { attributes, fromMs, toMs }: HistoryQuery,
): Promise<HistoryPage> {
  const nameFor = namesFor(attributes);
  return pageOf(pastCommits(parts, userId, deviceId, { fromMs, toMs }), (commit) => {
    const { cause, changes } = readAttributeBody(commit);
    return changes.flatMap(([key, value]) => {
      const name = nameFor(key);
      if (name === undefined) return [];
      const change = { name, value: wireValue(key, value), updateTimeMs: commit.timeMs, cause };
      return [{ change, characters: name.length + (value?.length ?? 0) }];
    });
  });
}

/** The first page of the changes that `read` finds in the commits. */
export async function pageOf<Change>(
  commits: AsyncIterable<LogEntry>,
  read: (commit: LogEntry) => readonly { readonly change: Change; readonly characters: number }[],
): Promise<HistoryPage<Change>> {
  const changes: Change[] = [];
  let characters = 0;
  let commitsRead = 0;
  let charactersRead = 0;
  let full: LogEntry | undefined;
  for await (const commit of commits) {
    // The next page begins with a time, so entries of one time stay together.
    if (full && commit.timeMs > full.timeMs) return { changes, nextFromMs: full.timeMs + 1 };
    commitsRead += 1;
    charactersRead += commit.body.length;
    for (const found of read(commit)) {
      changes.push(found.change);
      characters += found.characters;
    }
    const isFull =
      changes.length >= historyLimits.changes ||
      characters >= historyLimits.characters ||
      commitsRead >= historyLimits.commits ||
      charactersRead >= historyLimits.charactersRead;
    if (isFull) full = commit;
  }
  return { changes, nextFromMs: undefined };
}
