import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantKey, ListedGrant } from "../../store/tables/assistant-grants.ts";
import { freshnessOfLinks } from "./changes.ts";

export type SweepTables = Pick<
  Transaction,
  "assistantOutlets" | "assistantGrants" | "assistantMarks" | "assistantReplies" | "assistantDeliveries" | "clock"
>;

export interface SweepParts {
  readonly store: Store<SweepTables>;
  readonly staleLinks: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, readonly DeviceId[]>>;
}

const everyMs = 55_000;
/** How long after its end a reply without an outcome waits to be told as such. */
const repliesKeptMs = 60_000;
const deliveriesKeptMs = 7 * 86_400_000;
const atOnce = 500;

/**
 * Compares the freshness of all links with what was reported: a link turns stale without an entry in the log when its
 * owner dies or nothing confirms it. One node does this each minute. Also removes what has expired; returns how much.
 */
export async function sweepReports(parts: SweepParts, signal: AbortSignal): Promise<number> {
  const { store } = parts;
  const isOurs = await store.transaction(async (tx) => {
    if (!(await tx.assistantGrants.isAny())) return false;
    const feed = await tx.assistantMarks.lockFeed();
    const nowMs = await tx.clock.nowMs();
    if (Math.abs(nowMs - feed.sweptMs) < everyMs) return false;
    if (nowMs < feed.sweptMs) await tx.assistantGrants.correctTimes(nowMs);
    await tx.assistantMarks.setFeed({ ...feed, sweptMs: nowMs });
    return true;
  });
  if (isOurs) await compareFreshness(parts, signal);
  return store.transaction(
    async (tx) => {
      const nowMs = await tx.clock.nowMs();
      return (
        (await tx.assistantOutlets.removeDead()) +
        (await tx.assistantGrants.removeDead(atOnce)) +
        (await tx.assistantReplies.removeExpired(nowMs - repliesKeptMs, atOnce)) +
        (await tx.assistantDeliveries.removeOlder(nowMs - deliveriesKeptMs, atOnce))
      );
    },
    { background: true },
  );
}

async function compareFreshness({ store, staleLinks }: SweepParts, signal: AbortSignal): Promise<void> {
  let after: AssistantGrantKey | undefined;
  while (!signal.aborted) {
    const grants = await store.read((tx) => tx.assistantGrants.page(after, atOnce));
    const stale = await staleLinks([...new Set(grants.map(({ userId }) => userId))]);
    const turned = grants.filter((grant) => !isSameSet(grant.staleDevices, stale.get(grant.userId) ?? []));
    if (turned.length > 0) await mark(store, turned);
    after = grants.at(-1);
    if (grants.length < atOnce) return;
  }
}

async function mark(store: Store<SweepTables>, grants: readonly ListedGrant[]): Promise<void> {
  await store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const keys = (await tx.assistantGrants.lockAll(grants)).map(({ userId, outletId }) => ({ userId, outletId }));
    await tx.assistantMarks.addAll(
      keys.map((key) => ({ ...key, thingId: freshnessOfLinks, stateMs: nowMs })),
      nowMs,
    );
    await tx.assistantGrants.wakeEachAt(keys.map((key) => ({ ...key, dueMs: nowMs })));
  });
}

function isSameSet(one: readonly DeviceId[], other: readonly DeviceId[]): boolean {
  return one.length === other.length && one.every((id) => other.includes(id));
}
