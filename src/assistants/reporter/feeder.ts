import type { Priority, Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantRow } from "../../store/tables/assistant-grants.ts";
import type { AssistantFeed } from "../../store/tables/assistant-marks.ts";
import { comparePositions, type TailedEntry } from "../../store/tables/log.ts";
import { type Changes, changesOf } from "./changes.ts";

export type FeedTables = Pick<Transaction, "log" | "logEpoch" | "assistantGrants" | "assistantMarks" | "clock">;

/** Bound of one step, in entries and marks (slightly exceeded), because others wait during it. */
const atOnce = { entries: 500, marks: 200 };
const deadAtOnce = 100;

/**
 * Turns new log entries into marks, exactly once over all nodes: the position of the feed is locked and advances in the
 * same transaction.
 */
export async function feedMarks(
  store: Store<FeedTables>,
  priority: Priority,
): Promise<"no grants" | "there is more" | "done"> {
  if (!(await store.read((tx) => tx.assistantGrants.isAny(), { soon: true }))) return "no grants";
  return store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const feed = await currentFeed(tx, nowMs);
    const entries = await tx.log.tail(feed, atOnce.entries);
    if (entries.length === 0) return "done";
    const users = [...new Set(entries.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
    if (entries.some(({ kind }) => kind === "revocation")) await tx.assistantGrants.removeDead(deadAtOnce);
    const grants = users.length === 0 ? [] : await tx.assistantGrants.ofUsers(users);
    const { planned, fed } = plan(grants, entries, nowMs);
    // In the order of their keys, as every transaction that locks several grants.
    for (const grant of grants) {
      const marks = planned.get(grant);
      if (!marks || !(await tx.assistantGrants.lock(grant))) continue;
      const { userId, outletId } = grant;
      for (const mark of marks) await tx.assistantMarks.add({ ...mark, userId, outletId }, nowMs);
      await tx.assistantGrants.wakeAt(grant, Math.min(...marks.map(dueOf)));
    }
    const reached = entries[fed - 1]!.position;
    await tx.assistantMarks.setFeed({ ...feed, ...reached });
    return fed < entries.length || fed === atOnce.entries ? "there is more" : "done";
  }, priority);
}

/**
 * After the store was restored or promoted, or when retention has removed entries that were not fed, changes may be
 * missing: everything is reported again.
 */
async function currentFeed(tx: FeedTables, nowMs: number): Promise<AssistantFeed> {
  const feed = await tx.assistantMarks.lockFeed();
  const epoch = (await tx.logEpoch.current()).name;
  const horizon = await tx.log.horizon();
  const isBehind = comparePositions(feed, horizon) < 0;
  if (feed.epoch === epoch && !isBehind) return feed;
  await tx.assistantMarks.addToAll(nowMs);
  const current = { ...feed, ...(isBehind ? horizon : {}), epoch };
  await tx.assistantMarks.setFeed(current);
  return current;
}

type Marks = Changes["marks"];

function plan(
  grants: readonly AssistantGrantRow[],
  entries: readonly TailedEntry[],
  nowMs: number,
): { readonly planned: ReadonlyMap<AssistantGrantRow, Marks>; readonly fed: number } {
  const byUser = Map.groupBy(grants, ({ userId }) => userId);
  const planned = new Map<AssistantGrantRow, Marks>();
  let [fed, count] = [0, 0];
  for (const entry of entries) {
    fed += 1;
    const ofUser = entry.userId === null ? undefined : byUser.get(entry.userId);
    if (!ofUser) continue;
    const { marks, clientId } = changesOf(entry, nowMs);
    for (const grant of ofUser) {
      if (marks.length === 0 || (clientId !== undefined && clientId !== grant.clientId)) continue;
      planned.set(grant, [...(planned.get(grant) ?? []), ...marks]);
      count += marks.length;
    }
    if (count >= atOnce.marks) break;
  }
  return { planned, fed };
}

/** Emergencies are due before everything else. */
function dueOf({ isUrgent, stateMs, syncMs }: Marks[number]): number {
  return isUrgent ? 0 : Math.min(stateMs ?? Number.MAX_SAFE_INTEGER, syncMs ?? Number.MAX_SAFE_INTEGER);
}
