import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LogEntry, TimeRange } from "../store/tables/log.ts";

export interface PastCommitParts {
  readonly store: Store<Pick<Transaction, "log">>;
  /** Yields to the event loop. */
  readonly turn: () => Promise<void>;
}

/**
 * A page is read in one query and held in memory. The number of commits in a page follows from the size of the commits
 * before: a page has about 256,000 characters, and 13 million if 200 of the largest commits follow small ones.
 */
const page = { first: 32, most: 200, characters: 256_000 };

/**
 * The commits to a device in a time range (end excluded), oldest first, in pages of bounded size: those that changed
 * attributes, or those that changed only things too.
 */
export async function* pastCommits(
  { store, turn }: PastCommitParts,
  userId: UserId,
  deviceId: DeviceId,
  { fromMs: startMs, toMs }: TimeRange,
  kinds?: "attributes" | "attributes and things",
): AsyncGenerator<LogEntry> {
  let limit = page.first;
  for (let fromMs = startMs; ; ) {
    const entries = await store.read((tx) => tx.log.changes(userId, deviceId, { fromMs, toMs }, limit, kinds));
    yield* entries;
    if (entries.length < limit) return;
    // Commits to one device have distinct times, but what the log says of its thing can share the time of one.
    fromMs = entries.at(-1)!.timeMs + 1;
    const characters = entries.reduce((sum, { body }) => sum + body.length, 0);
    const fitting = Math.floor((page.characters * entries.length) / Math.max(1, characters));
    // Pages grow at most twofold: the next commits may be larger than these.
    limit = Math.max(1, Math.min(fitting, 2 * limit, page.most));
    await turn();
  }
}
