import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LogEntry, TimeRange } from "../store/tables/log.ts";

export interface PastCommitParts {
  readonly store: Store<Pick<Transaction, "log">>;
  /** Resolves when everybody else has had their turn. */
  readonly turn: () => Promise<void>;
}

/**
 * A page is read at once and held in memory. Its number of commits follows from the size of those before: about 256,000
 * characters, and 13 million when 200 of the largest commits follow small ones.
 */
const page = { first: 32, most: 200, characters: 256_000 };

/** The commits to a device in a stretch of time (its end excluded), oldest first, in pages of a bounded size. */
export async function* pastCommits(
  { store, turn }: PastCommitParts,
  userId: UserId,
  deviceId: DeviceId,
  { fromMs: startMs, toMs }: TimeRange,
): AsyncGenerator<LogEntry> {
  let limit = page.first;
  for (let fromMs = startMs; ; ) {
    const entries = await store.read((tx) => tx.log.changes(userId, deviceId, { fromMs, toMs }, limit));
    yield* entries;
    const last = entries.at(-1);
    if (!last || entries.length < limit) return;
    // Each commit to a device has a time of its own.
    fromMs = last.timeMs + 1;
    const characters = entries.reduce((sum, { body }) => sum + body.length, 0);
    const fitting = Math.floor((page.characters * entries.length) / Math.max(1, characters));
    // At most twice as many as before: the next commits may be larger than these.
    limit = Math.max(1, Math.min(fitting, 2 * limit, page.most));
    await turn();
  }
}
